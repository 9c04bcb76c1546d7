/** Why a request was refused: the API's problem+json (RFC 9457) as an error with types. */
import type { components } from './schema'

type Body = components['schemas']['ProblemOut']

/** `kind` is stable and for programs: the last part of the problem's `type`, for example `decision-outdated`. */
export class Problem extends Error {
  readonly kind: string
  readonly status: number
  readonly body: Partial<Body>

  constructor(kind: string, status: number, body: Partial<Body>) {
    super(body.detail ?? kind)
    this.kind = kind
    this.status = status
    this.body = body
  }
}

/** No answer at all: the server is down, or the network is. */
export const UNREACHABLE = 'unreachable'

export function isProblem(error: unknown, kind?: string): error is Problem {
  return error instanceof Problem && (kind === undefined || error.kind === kind)
}

export function problemOf(status: number, body: unknown): Problem {
  const known = typeof body === 'object' && body !== null ? (body as Partial<Body>) : {}
  const kind = known.type?.split('/').at(-1) ?? `http-${status}`
  return new Problem(kind, status, known)
}

/** Any thrown value as a problem: `fetch` throws a TypeError when nothing answers. */
export function asProblem(error: unknown): Problem {
  if (error instanceof Problem) return error
  if (error instanceof TypeError) return new Problem(UNREACHABLE, 0, {})
  return new Problem('unexpected', 0, { detail: error instanceof Error ? error.message : String(error) })
}
