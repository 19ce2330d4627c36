// Encrypts in the browser, lets the server compute, and decrypts.
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

  const answer = await fetch('/evaluate', {method: 'POST'})
  if (!answer.ok) throw new Error(await answer.text())
  say(`The server computed for ${answer.headers.get('x-seconds')} s.`)
  const cipher = new seal.Ciphertext()
  cipher.loadFromArray(context, new Uint8Array(await answer.arrayBuffer()))
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
