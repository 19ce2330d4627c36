// Encrypts in the browser, lets this page's server or a service compute, and decrypts.
import SEAL from 'node-seal'

const DEGREE = 8192
const SCALE = 2 ** 40
const BITS = [50, 40, 40, 50]  // the last prime is for key switching

const form = document.querySelector('form')
const steps = document.querySelector('#steps')
const result = document.querySelector('#result')

function say(text) {
  steps.append(Object.assign(document.createElement('li'), {textContent: text}))
}

async function upload(name, object, seal) {
  const bytes = object.saveToArray(seal.ComprModeType.zstd)
  const answer = await fetch(`/objects/${name}`, {method: 'PUT', body: bytes})
  if (!answer.ok) throw new Error(await answer.text())
  return bytes.length
}

async function ask(path, body) {
  const answer = await fetch(path, body === undefined ? {} : {method: 'POST', body})
  if (!answer.ok) throw new Error(await answer.text())
  return answer
}

const bytesOf = async answer => new Uint8Array(await answer.arrayBuffer())

// The bytes of SEAL's ciphertext that the server of this page computes.
async function here() {
  const answer = await ask('/evaluate', '')
  say(`The server computed for ${answer.headers.get('x-seconds')} s.`)
  return bytesOf(answer)
}

// The same from a service, which takes and gives files of Ringmill; the server of this page translates.
async function there({url, token}) {
  const {Client} = await import('ringmill-client')
  await ask('/files', '')
  const [program, keys, given] = await Promise.all(
    ['program', 'keys', 'arguments'].map(async name => bytesOf(await ask(`/files/${name}`))))
  const client = new Client(url, token)
  const states = []
  const results = await client.run({program, keys, arguments: given}, {onJob: job => states.push(job)})
  say(`The service computed for ${states.at(-1).seconds.toFixed(3)} s.`)
  return bytesOf(await ask('/results', results))
}

async function compute(numbers) {
  const seal = await SEAL()
  const parms = new seal.EncryptionParameters(seal.SchemeType.ckks)
  parms.setPolyModulusDegree(DEGREE)
  parms.setCoeffModulus(seal.CoeffModulus.Create(DEGREE, Int32Array.from(BITS)))
  const context = new seal.SEALContext(parms, true, seal.SecLevelType.tc128)
  const encoder = new seal.CKKSEncoder(context)

  const generator = new seal.KeyGenerator(context)
  const secret = generator.secretKey()
  const values = new Float64Array(encoder.slotCount())
  values.set(numbers)
  const plain = new seal.Plaintext()
  encoder.encode(values, SCALE, plain)
  const encryptor = new seal.Encryptor(context, generator.createPublicKey(), secret)
  say('Keys are made; numbers are encrypted.')

  // Half of each key and of the ciphertext is a seed.
  const rotations = generator.createGaloisKeysSerializableWithSteps(Int32Array.from([1]))
  let bytes = await upload('parms', parms, seal)
  bytes += await upload('relin.keys', generator.createRelinKeysSerializable(), seal)
  bytes += await upload('galois.keys', rotations, seal)
  bytes += await upload('x.ct', encryptor.encryptSymmetricSerializable(plain), seal)
  say(`${(bytes / 1e6).toFixed(1)} MB went to the server, and no secret key.`)

  const service = await (await ask('/service.json')).json()
  const cipher = new seal.Ciphertext()
  cipher.loadFromArray(context, await (service ? there(service) : here()))
  new seal.Decryptor(context, secret).decrypt(cipher, plain)
  return Array.from(encoder.decodeFloat64(plain).slice(0, numbers.length))
}

form.addEventListener('submit', async event => {
  event.preventDefault()
  steps.replaceChildren()
  result.textContent = ''
  try {
    const numbers = form.elements.numbers.value.trim().split(/[\s,;]+/).map(Number)
    if (numbers.some(x => !(Math.abs(x) <= 1))) throw new Error('Give numbers between −1 and 1, with spaces between.')
    result.textContent = (await compute(numbers)).map(x => x.toFixed(6)).join('  ')
  } catch (error) {
    result.textContent = error.message
  }
})
