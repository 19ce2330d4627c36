// A client of a service: stores files, runs jobs, fetches results. It computes and decrypts nothing.

import {blake3} from '@noble/hashes/blake3.js'
import {bytesToHex} from '@noble/hashes/utils.js'
import {DetailedError, Upload} from 'tus-js-client'

import {RingmillError, refusal} from './errors.js'
import type {Files, Job, Sending, StoredObject, Waiting} from './types.js'

export {RingmillError} from './errors.js'
export type * from './types.js'

/** Bytes of one request of an upload. */
const CHUNK = 8 << 20

/** Milliseconds before each new attempt of an upload that broke. */
const RETRIES = [500, 1000, 2000, 4000, 8000]

/** Seconds that one request waits for a job to change. */
const PATIENCE = 30

const NAME = /^[0-9a-z]+$/i

/** The name of an object: BLAKE3 of its bytes. */
export function hashOf(bytes: Uint8Array): string {
  return bytesToHex(blake3(bytes))
}

/** Whether a file is a secret key: the letters RINGMILL, a version, and kind 2. */
export function isSecretKey(bytes: Uint8Array): boolean {
  const magic = 'RINGMILL'
  return bytes.length >= 12 && [...magic].every((letter, at) => bytes[at] === letter.charCodeAt(0))
    && bytes[10] === 2 && bytes[11] === 0
}

/** A name that is part of an address. */
function named(name: string): string {
  if (NAME.test(name)) return name
  throw new RingmillError('BadName', `${JSON.stringify(name)} names nothing of a service: names are letters and digits.`)
}

interface Asked {
  /** Sent as JSON. */
  body?: unknown
  headers?: Record<string, string>
  signal?: AbortSignal | undefined
  /** Statuses that are no refusal, beside those of success. */
  right?: number[]
}

export class Client {
  readonly url: string
  readonly #token: string

  /**
   * @param url the service's address, as "http://127.0.0.1:8750"
   * @param token what the service or its operator gave
   */
  constructor(url: string, token: string) {
    if (!/^https?:\/\/[^\s?#]+$/.test(url)) {
      throw new RingmillError('BadAddress', `${JSON.stringify(url)} is no address of a service. Give one as "http://127.0.0.1:8750".`)
    }
    if (!/^[!-~]{1,512}$/.test(token)) {
      throw new RingmillError('BadToken', 'The token is not one: it has other characters. Copy it again.')
    }
    this.url = url.replace(/\/+$/, '')
    this.#token = token
  }

  async #ask(method: string, path: string, options: Asked = {}): Promise<Response> {
    const headers: Record<string, string> = {authorization: `Bearer ${this.#token}`, ...options.headers}
    const init: RequestInit = {method, headers, cache: 'no-store'}
    if (options.body !== undefined) {
      headers['content-type'] = 'application/json'
      init.body = JSON.stringify(options.body)
    }
    if (options.signal) init.signal = options.signal
    let answer
    try {
      answer = await fetch(`${this.url}${path}`, init)
    } catch (error) {
      if (options.signal?.aborted) throw error
      throw new RingmillError('Unreachable', `The service at ${this.url} does not answer (${String(error)}). Check that it runs, and the address.`)
    }
    if (answer.ok || options.right?.includes(answer.status)) return answer
    const refused = refusal(answer.status, await answer.text())
    // An answer to HEAD has no body.
    const code = answer.headers.get('ringmill-code')
    throw code && refused.code.startsWith('Status') ? new RingmillError(code, refused.message, refused.status) : refused
  }

  async #json<T>(method: string, path: string, options: Asked = {}): Promise<T> {
    return await (await this.#ask(method, path, options)).json() as T
  }

  /** Whether the service has an object of this hash from this tenant. */
  async has(hash: string): Promise<boolean> {
    return (await this.#ask('HEAD', `/v1/objects/${named(hash)}`, {right: [404]})).status === 200
  }

  /** Stores a kernel file, evaluation keys or arguments; stored already, nothing is sent. Gives the hash. */
  async push(bytes: Uint8Array, sending: Sending = {}): Promise<string> {
    if (isSecretKey(bytes)) throw new RingmillError('SecretKey', 'This is a secret key, and nothing of it was sent. A service needs evaluation keys.')
    const hash = hashOf(bytes)
    if (!await this.has(hash)) await this.#upload(bytes, hash, sending)
    return hash
  }

  async #upload(bytes: Uint8Array, hash: string, {onProgress, signal}: Sending): Promise<void> {
    type Begun = {id: string, hash: string | null, size: number}
    const begun = (await this.#json<Begun[]>('GET', '/v1/uploads', {signal}))
      .find(one => one.hash === hash && one.size === bytes.length)
    await new Promise<void>((resolve, reject) => {
      const data = bytes as Uint8Array<ArrayBuffer>
      const upload = new Upload(typeof Buffer === 'undefined' ? new Blob([data]) : Buffer.from(data), {
        endpoint: `${this.url}/v1/uploads`,
        uploadUrl: begun ? `${this.url}/v1/uploads/${named(begun.id)}` : null,
        uploadSize: bytes.length,
        chunkSize: CHUNK,
        retryDelays: RETRIES,
        metadata: {hash},
        headers: {authorization: `Bearer ${this.#token}`},
        storeFingerprintForResuming: false,
        onProgress: (sent, all) => onProgress?.(sent, all ?? bytes.length),
        onSuccess: () => { resolve() },
        onError: error => {
          const answer = error instanceof DetailedError ? error.originalResponse : null
          reject(answer ? refusal(answer.getStatus(), answer.getBody())
            : new RingmillError('Unreachable', `The upload broke (${error.message}). Push it again: it goes on where it broke.`))
        },
      })
      signal?.addEventListener('abort', () => {
        void upload.abort()
        reject(signal.reason as Error)
      })
      upload.start()
    })
  }

  /** The bytes of an object, which have its hash. */
  async fetch(hash: string, signal?: AbortSignal): Promise<Uint8Array> {
    const answer = await this.#ask('GET', `/v1/objects/${named(hash)}`, {signal})
    const bytes = new Uint8Array(await answer.arrayBuffer())
    const found = hashOf(bytes)
    if (found !== hash) throw new RingmillError('Altered', `The bytes that came have hash ${found.slice(0, 16)}, not ${hash.slice(0, 16)}. Fetch them again.`)
    return bytes
  }

  /** The tenant's objects, the newest first. */
  async objects(): Promise<StoredObject[]> {
    return this.#json('GET', '/v1/objects')
  }

  /** Removes an object that no open job needs. */
  async delete(hash: string): Promise<void> {
    await this.#ask('DELETE', `/v1/objects/${named(hash)}`)
  }

  /** The keys that a stored program needs and stored keys lack, by name: "rotation by 3". */
  async missingKeys(program: string, keys: string | null = null): Promise<string[]> {
    const answer = await this.#json<{missing: string[]}>('POST', `/v1/programs/${named(program)}/missing-keys`, {body: {keys}})
    return answer.missing
  }

  /**
   * Asks for a job.
   *
   * @param deadline seconds from now after which it is not worth anything
   * @param idempotencyKey a name for this job; asked for again under the same name, the first one is given
   */
  async submit(files: Files, deadline?: number, idempotencyKey: string = crypto.randomUUID()): Promise<Job> {
    const {program, keys, arguments: given} = files
    const body = {program, keys, arguments: given, ...deadline === undefined ? {} : {deadline: Math.floor(deadline)}}
    return this.#json('POST', '/v1/jobs', {body, headers: {'idempotency-key': idempotencyKey}})
  }

  /** A job, at once, or when it has ended but after `wait` seconds at the latest (60 at most). */
  async job(id: string, wait = 0, signal?: AbortSignal): Promise<Job> {
    return this.#json('GET', `/v1/jobs/${named(id)}?wait=${Math.ceil(wait)}`, {signal})
  }

  /** The tenant's jobs, the newest first. */
  async jobs(): Promise<Job[]> {
    return this.#json('GET', '/v1/jobs')
  }

  /** Cancels a job; one that has ended stays as it is. */
  async cancel(id: string): Promise<Job> {
    return this.#json('DELETE', `/v1/jobs/${named(id)}`)
  }

  /** Waits for a job to end; gives it as it is then. */
  async wait(id: string, {onJob, signal}: Waiting = {}): Promise<Job> {
    for (;;) {
      // Where somebody watches, it is asked for often.
      const job = await this.job(id, onJob ? 1 : PATIENCE, signal)
      onJob?.(job)
      if (job.state !== 'queued' && job.state !== 'running') return job
    }
  }

  /** Stores what is not there yet, runs the program, and gives the bytes of its results. */
  async run(files: {program: Uint8Array, keys: Uint8Array, arguments: Uint8Array}, waiting: Waiting & Sending = {}): Promise<Uint8Array> {
    const program = await this.push(files.program, waiting)
    const keys = await this.push(files.keys, waiting)
    const given = await this.push(files.arguments, waiting)
    const asked = await this.submit({program, keys, arguments: given})
    const job = await this.wait(asked.id, waiting)
    if (job.state !== 'done' || job.result === null) {
      const code = job.code ?? job.state.charAt(0).toUpperCase() + job.state.slice(1)
      throw new RingmillError(code, `Job ${job.id} is ${job.state}${job.message ? `: ${job.message}` : ''}.`, 0, {job: job.id})
    }
    return this.fetch(job.result, waiting.signal)
  }
}
