// The client against a service that runs; python/tests/test_typescript_client.py starts it and makes the files.
import assert from 'node:assert/strict'
import {readFileSync} from 'node:fs'
import {createServer} from 'node:http'
import {test} from 'node:test'

import {Client, RingmillError, hashOf, isSecretKey} from 'ringmill-client'

const {RINGMILL_URL: url, RINGMILL_TOKEN: token, RINGMILL_FILES: folder} = process.env
const read = name => new Uint8Array(readFileSync(`${folder}/${name}`))
const files = () => ({program: read('kernel'), keys: read('keys'), arguments: read('arguments')})
const refused = code => error => error instanceof RingmillError && error.code === code
const client = () => new Client(url, token)

test('hashes are those of BLAKE3', () => {
  // The hash of nothing, from the test vectors of BLAKE3.
  assert.equal(hashOf(new Uint8Array()), 'af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262')
})

test('a job gives the bytes of a local run', async () => {
  const states = []
  const results = await client().run(files(), {onJob: job => states.push(job.state)})
  assert.deepEqual(Buffer.from(results), Buffer.from(read('results')))
  assert.equal(states.at(-1), 'done')
})

test('what is stored is not sent again, and is fetched as it was', async () => {
  const sent = []
  const hash = await client().push(files().keys, {onProgress: count => sent.push(count)})
  assert.deepEqual(sent, [])
  assert.equal(hash, hashOf(files().keys))
  assert.deepEqual(await client().fetch(hash), files().keys)
  const kinds = new Set((await client().objects()).map(object => object.kind))
  assert.deepEqual([...kinds].sort(), ['arguments', 'keys', 'program', 'results'])
})

test('a program says which keys it lacks', async () => {
  const [program, keys] = [hashOf(files().program), hashOf(files().keys)]
  assert.deepEqual(await client().missingKeys(program, keys), [])
  assert.ok((await client().missingKeys(program)).includes('rotation by 1'))
})

test('an upload that broke goes on where it broke', async () => {
  const keys = read('other-keys')
  const control = new AbortController()
  const stopped = client().push(keys, {signal: control.signal, onProgress: () => control.abort()})
  await assert.rejects(stopped, {name: 'AbortError'})
  const hash = await client().push(keys)
  assert.ok(await client().has(hash))
  await client().delete(hash)
  assert.equal(await client().has(hash), false)
})

test('a job that is asked for twice is one, and one that has ended stays', async () => {
  const [program, keys, given] = Object.values(files()).map(hashOf)
  const asked = {program, keys, arguments: given}
  const [first, second] = [await client().submit(asked, 60, 'once'), await client().submit(asked, 60, 'once')]
  assert.equal(first.id, second.id)
  const ended = await client().wait(first.id)
  assert.equal((await client().cancel(first.id)).state, 'done')
  assert.ok((await client().jobs()).some(job => job.id === ended.id))
})

test('refusals have the codes of the service', async () => {
  await assert.rejects(client().fetch('0'.repeat(64)), refused('NotFound'))
  await assert.rejects(client().push(new TextEncoder().encode('nothing')), refused('UnknownFile'))
  await assert.rejects(client().job('../tenant'), refused('BadName'))
  await assert.rejects(new Client(url, 'rms_x').jobs(), refused('Unauthorized'))
  await assert.rejects(new Client(url, 'rms_x').has('0'.repeat(64)), refused('Unauthorized'))
  const [keys, given] = [hashOf(files().keys), hashOf(files().arguments)]
  await assert.rejects(client().submit({program: keys, keys, arguments: given}), refused('WrongKind'))
  await assert.rejects(new Client('http://127.0.0.1:9', token).jobs(), refused('Unreachable'))
  assert.throws(() => new Client('file:///x', token), refused('BadAddress'))
  assert.throws(() => new Client(url, 'a b'), refused('BadToken'))
})

test('a secret key is not sent', async () => {
  assert.ok(isSecretKey(read('secret.key')))
  assert.equal(isSecretKey(files().keys), false)
  await assert.rejects(client().push(read('secret.key')), refused('SecretKey'))
})

test('bytes that were changed on their way are refused', async () => {
  const other = createServer((_, answer) => answer.end('other bytes')).listen(0, '127.0.0.1')
  await new Promise(resolve => other.once('listening', resolve))
  const address = `http://127.0.0.1:${other.address().port}`
  await assert.rejects(new Client(address, token).fetch(hashOf(files().keys)), refused('Altered'))
  other.close()
})
