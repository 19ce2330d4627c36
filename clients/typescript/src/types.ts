// What a service answers, as its /openapi.json describes it.

export type Kind = 'program' | 'keys' | 'keyset' | 'arguments' | 'results'

/** An object: immutable bytes, named by their BLAKE3. */
export interface StoredObject {
  hash: string
  kind: Kind
  /** Bytes. */
  size: number
  /** What it says of itself. */
  facts: Record<string, unknown> | null
  /** Seconds since 1970, as all times. */
  created: number
  used: number
  pinned: boolean
  /** When it is removed if nothing uses it before; null: never. */
  expires: number | null
}

export type State = 'queued' | 'running' | 'done' | 'failed' | 'cancelled' | 'expired'

export interface Job {
  id: string
  program: string
  keys: string
  arguments: string
  state: State
  /** Of the last failure. */
  class: 'user' | 'resource' | 'bug' | null
  code: string | null
  message: string | null
  /** Hash of the results of a job that is done. */
  result: string | null
  /** Seconds: predicted, and as they were. */
  predicted: number
  seconds: number | null
  created: number
  started: number | null
  ended: number | null
  deadline: number
  attempts: number
  /** The part that is done, of a job that runs. */
  progress: number | null
  /** Seconds until it ends, as predicted. */
  eta: number | null
}

/** Hashes of what a job takes. */
export interface Files {
  program: string
  /** A file of keys, or a set of such files. */
  keys: string
  arguments: string
}

export interface Waiting {
  /** Told of a job whenever it changes. */
  onJob?: (job: Job) => void
  signal?: AbortSignal
}

export interface Sending {
  /** Told how many bytes of an upload have arrived. */
  onProgress?: (sent: number, all: number) => void
  signal?: AbortSignal
}
