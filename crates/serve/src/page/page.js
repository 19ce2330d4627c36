// The page of a tenant. Everything it shows comes from this service, by the token that was typed.
const find = id => document.getElementById(id)
const KINDS = ['program', 'keys', 'keyset', 'arguments', 'results']
const WORDS = {program: 'program', keys: 'file of keys', keyset: 'set of keys', arguments: 'argument', results: 'result'}
const MANY = {program: 'programs', keys: 'files of keys', keyset: 'sets of keys', arguments: 'arguments', results: 'results'}
const KEPT = 'ringmill-token'
const OFTEN = 5000

let token = sessionStorage.getItem(KEPT)
let watched = new Map() // jobs whose events are read: id → AbortController
let jobs = []
let names = new Map() // hash of a program → its kernel's name
let timer

// Text alone is put into the page: names come from files.
function element(name, content = [], attributes = {}) {
  const made = document.createElement(name)
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value)
  made.append(...[content].flat())
  return made
}

const cell = (label, content, kind = '') => element('td', content, {'data-label': label, class: kind})

function bytes(count) {
  const units = ['B', 'kB', 'MB', 'GB', 'TB']
  let at = 0
  while (count >= 1000 && at < units.length - 1) [count, at] = [count / 1000, at + 1]
  return `${at && count < 100 ? count.toFixed(1) : Math.round(count)} ${units[at]}`
}

function seconds(value) {
  if (value === null) return '–'
  if (value < 1) return `${Math.max(value * 1000, 0.1).toFixed(value < 0.01 ? 1 : 0)} ms`
  return value < 120 ? `${value.toFixed(1)} s` : `${Math.round(value / 60)} min`
}

function span(value) {
  const steps = [[86400, 'day'], [3600, 'hour'], [60, 'minute']]
  for (const [size, word] of steps) {
    const count = Math.floor(value / size)
    if (count >= 1) return `${count} ${word}${count > 1 ? 's' : ''}`
  }
  return 'less than a minute'
}

function time(at) {
  const ago = Date.now() / 1000 - at
  return element('time', ago < 60 ? 'just now' : `${span(ago)} ago`, {
    datetime: new Date(at * 1000).toISOString(), title: new Date(at * 1000).toLocaleString(),
  })
}

function life(object) {
  if (object.pinned) return 'pinned'
  return object.expires === null ? 'for good' : `${span(Math.max(object.expires - Date.now() / 1000, 0))} more`
}

const hash = value => element('code', value.slice(0, 12), {title: value})

async function ask(path, options = {}) {
  const answer = await fetch(path, {...options, headers: {authorization: `Bearer ${token}`}})
  if (answer.ok) return answer
  const problem = await answer.json().catch(() => ({}))
  throw Object.assign(new Error(problem.detail ?? `The service answers with status ${answer.status}.`), {status: answer.status})
}

const json = async path => (await ask(path)).json()

function fill(table, rows, columns, nothing) {
  const none = element('tr', element('td', nothing, {colspan: columns, class: 'none', 'data-label': ''}))
  find(table).tBodies[0].replaceChildren(...(rows.length ? rows : [none]))
}

function run(job) {
  const state = [element('span', job.state, {class: `state ${job.state}`})]
  if (job.state === 'running') {
    state.push(element('progress', [], {max: '1', value: String(job.progress ?? 0), 'aria-label': 'progress'}))
    if (job.eta !== null) state.push(element('span', `${seconds(job.eta)} left, as predicted`, {class: 'why'}))
  }
  if (job.message && job.state !== 'done') state.push(element('span', job.message, {class: 'why'}))
  const row = element('tr', [
    cell('Program', names.get(job.program) ?? hash(job.program)),
    cell('State', element('div', state)),
    cell('Began', time(job.started ?? job.created)),
    cell('Predicted', seconds(job.predicted), 'number'),
    cell('Took', seconds(job.seconds), 'number'),
  ])
  const action = cell('', [], 'action')
  if (['queued', 'running'].includes(job.state)) {
    const cancel = element('button', 'Cancel', {type: 'button'})
    cancel.addEventListener('click', () => ask(`/v1/jobs/${job.id}`, {method: 'DELETE'}).then(refresh, trouble))
    action.append(cancel)
  }
  row.append(action)
  row.id = `job-${job.id}`
  return row
}

function showRuns() {
  fill('runs', jobs.slice(0, 50).map(run), 6, 'No runs yet.')
  const times = jobs.map(job => job.seconds).filter(value => value !== null).sort((a, b) => a - b)
  find('done').textContent = jobs.filter(job => job.state === 'done').length
  find('typical').textContent = times.length ? `median ${seconds(times[times.length >> 1])}` : 'none yet'
}

// Progress comes as server-sent events, which EventSource cannot ask for with a token.
async function watch(id) {
  const control = new AbortController()
  watched.set(id, control)
  try {
    const answer = await ask(`/v1/jobs/${id}/events`, {signal: control.signal})
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader()
    for (let text = ''; ;) {
      const {value, done} = await reader.read()
      if (done) break
      text += value
      const events = text.split('\n\n')
      text = events.pop()
      for (const event of events) {
        const data = event.split('\n').filter(line => line.startsWith('data: ')).map(line => line.slice(6)).join('\n')
        if (!event.includes('event: job') || !data) continue
        const job = JSON.parse(data)
        jobs = jobs.map(old => old.id === job.id ? job : old)
        showRuns()
      }
    }
    if (!control.signal.aborted) await refresh()
  } catch (error) {
    if (error.name !== 'AbortError') trouble(error)
  } finally {
    watched.delete(id)
  }
}

function showStorage(tenant) {
  const stored = KINDS.map(kind => ({kind, ...(tenant.stored[kind] ?? {objects: 0, bytes: 0})}))
  const held = stored.reduce((sum, one) => sum + one.bytes, 0) + tenant.uploading
  find('held').textContent = bytes(held)
  find('quota').textContent = `of ${bytes(tenant.quota_bytes)}`
  find('open').textContent = tenant.open_jobs
  find('most').textContent = `of ${tenant.quota_jobs}`
  find('bar').setAttribute('aria-label', `${bytes(held)} of ${bytes(tenant.quota_bytes)} are used`)
  find('bar').replaceChildren(...stored.filter(one => one.bytes).map(one => {
    const part = element('i', [], {class: one.kind, title: `${MANY[one.kind]}: ${bytes(one.bytes)}`})
    part.style.flexBasis = `${100 * one.bytes / Math.max(tenant.quota_bytes, held)}%`
    return part
  }))
  find('kinds').replaceChildren(...stored.map(one =>
    element('li', [element('i', [], {class: one.kind}), `${one.objects} ${(one.objects === 1 ? WORDS : MANY)[one.kind]}, ${bytes(one.bytes)}`])))
  find('name').textContent = tenant.name
  find('foot').textContent = `Ringmill ${tenant.version}. This token allows: ${tenant.scopes.join(', ')}.`
}

function showObjects(objects, pace) {
  names = new Map(objects.filter(o => o.kind === 'program').map(o => [o.hash, o.facts.kernel]))
  fill('programs', objects.filter(o => o.kind === 'program').map(o => element('tr', [
    cell('Kernel', o.facts.kernel), cell('Hash', hash(o.hash)), cell('Size', bytes(o.size), 'number'),
    cell('Predicted', seconds(o.facts.seconds * pace), 'number'), cell('Last used', time(o.used)), cell('Kept', life(o)),
  ])), 6, 'No programs yet: ringmill remote push FILE.')
  // Files that a set names are shown as that set.
  const sets = objects.filter(o => o.kind === 'keyset')
  const named = new Set(sets.flatMap(o => o.facts.members.map(file => file.hash)))
  const keys = objects.filter(o => o.kind === 'keyset' || o.kind === 'keys' && !named.has(o.hash))
  fill('keys', keys.map(o => element('tr', [
    cell('Hash', hash(o.hash)), cell('Files', String(o.facts.members?.length ?? 1), 'number'),
    cell('Size', bytes(o.facts.bytes ?? o.size), 'number'), cell('Rotations', String(o.facts.galois.length), 'number'),
    cell('Age', span(Date.now() / 1000 - o.created)), cell('Last used', time(o.used)), cell('Kept', life(o)),
  ])), 7, 'No keys yet.')
}

function trouble(error) {
  find('trouble').textContent = error.message
  find('trouble').hidden = false
  if (error.status === 401 || error.status === 403) leave()
}

async function refresh() {
  clearTimeout(timer)
  if (token === null) return
  try {
    const [tenant, objects, list] = await Promise.all(['tenant', 'objects', 'jobs'].map(name => json(`/v1/${name}`)))
    jobs = list
    showStorage(tenant)
    showObjects(objects, tenant.pace)
    showRuns()
    find('trouble').hidden = true
    find('login').hidden = true
    find('all').hidden = find('out').hidden = false
    for (const job of jobs.filter(job => ['queued', 'running'].includes(job.state)).slice(0, 3)) {
      if (!watched.has(job.id)) watch(job.id)
    }
  } catch (error) {
    trouble(error)
  }
  if (token !== null) timer = setTimeout(refresh, OFTEN)
}

function leave() {
  clearTimeout(timer)
  token = null
  sessionStorage.removeItem(KEPT)
  for (const control of watched.values()) control.abort()
  find('all').hidden = find('out').hidden = true
  find('login').hidden = false
  find('name').textContent = 'Log in'
}

find('login').addEventListener('submit', event => {
  event.preventDefault()
  token = find('token').value.trim()
  find('token').value = ''
  sessionStorage.setItem(KEPT, token)
  refresh()
})
find('out').addEventListener('click', () => {
  find('trouble').hidden = true
  leave()
})
if (token === null) find('login').hidden = false
else refresh()
