// Refusals of a service (problem+json, RFC 9457), and what the client itself refuses.

export class RingmillError extends Error {
  override readonly name = 'RingmillError'

  constructor(
    /** The broken rule, stable between versions: "KeysMissing", "QuotaBytes", … */
    readonly code: string,
    message: string,
    /** The status of an answer; 0 if there was none. */
    readonly status = 0,
    /** What else the service said, by name: figures, names of missing keys. */
    readonly fields: Record<string, unknown> = {},
  ) {
    super(message)
  }
}

const UNSAID: Record<number, string> = {
  401: 'the token is not valid; use another',
  403: 'the token does not allow this',
}

/** The error that an answer's body says, if it is a problem. */
export function refusal(status: number, body: string): RingmillError {
  let problem: Record<string, unknown> = {}
  try {
    const read: unknown = JSON.parse(body)
    if (typeof read === 'object' && read !== null) problem = read as Record<string, unknown>
  } catch {
    // Something between client and service answered.
  }
  const {code, detail, type: _type, title: _title, status: _status, ...fields} = problem
  const said = typeof detail === 'string' ? detail : UNSAID[status] ?? `it answers with status ${status}`
  return new RingmillError(
    typeof code === 'string' ? code : `Status${status}`, `The service refuses: ${said}.`, status, fields)
}
