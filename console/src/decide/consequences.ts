/** What the steps after a question do with its answer, as far as their conditions can be read without running them. */
import { isObject, type Json } from './fields'

export type Step = {
  id: string
  title: string
  kind: 'handler' | 'wait' | 'human' | 'workflow' | 'abort' | 'switch'
  /** What the kind does: the handler's or the workflow's name. */
  does: string
  dependsOn: string[]
  condition: string | null
}

/** `unknown`: it depends on more than this answer; `open`: it depends on what is not chosen yet. */
export type Consequence = { step: Step; fate: 'runs' | 'skipped' | 'open' | 'unknown' }

export type OnTimeout = { outcome: string; escalateTo: string | null }

/** Returns what follows the question at once. */
export function consequencesOf(steps: readonly Step[], stepId: string, answer: Json): Consequence[] {
  return steps
    .filter((step) => step.dependsOn.some((each) => each.split('.')[0] === stepId))
    .map((step) => ({ step, fate: fateOf(step.condition, stepId, answer) }))
}

function fateOf(condition: string | null, stepId: string, answer: Json): Consequence['fate'] {
  if (condition === null) return 'runs'
  const test = comparisonOf(condition, stepId)
  if (test === undefined) return 'unknown'
  if (!isObject(answer) || answer[test.field] === undefined) return 'open'
  const isEqual = JSON.stringify(answer[test.field]) === JSON.stringify(test.value)
  return isEqual === test.isEqual ? 'runs' : 'skipped'
}

type Comparison = { field: string; value: Json; isEqual: boolean }

/** Reads `ask.ok`, `not ask.ok`, `ask.choice == "a"` and `ask.choice != "a"`; anything else is more than one answer. */
function comparisonOf(condition: string, stepId: string): Comparison | undefined {
  const place = `(?:steps\\.)?${stepId}\\.(?:output\\.)?(\\w+)`
  const truth = new RegExp(`^(not\\s+)?${place}$`).exec(condition.trim())
  if (truth) return { field: truth[2] ?? '', value: true, isEqual: truth[1] === undefined }
  const found = new RegExp(`^${place}\\s*(==|!=)\\s*(.+)$`).exec(condition.trim())
  const value = literalOf(found?.[3] ?? '')
  return found && value !== undefined ? { field: found[1] ?? '', value, isEqual: found[2] === '==' } : undefined
}

function literalOf(text: string): Json | undefined {
  try {
    return JSON.parse(text.replace(/^'([^'"\\]*)'$/, '"$1"')) as Json
  } catch {
    return undefined
  }
}

/** Returns the steps of a definition's body. */
export function stepsOf(body: Json | undefined): Step[] {
  const steps = isObject(body) && Array.isArray(body.steps) ? body.steps : []
  return steps.filter(isObject).map((step) => {
    const kind = KINDS.find((each) => step[each] !== undefined && step[each] !== null) ?? 'handler'
    return {
      id: String(step.id),
      title: typeof step.title === 'string' && step.title !== '' ? step.title : String(step.id),
      kind,
      does: kind === 'workflow' && isObject(step.workflow) ? String(step.workflow.id) : String(step.handler ?? ''),
      dependsOn: Array.isArray(step.depends_on) ? step.depends_on.map(String) : [],
      condition: typeof step.condition === 'string' ? step.condition : null,
    }
  })
}

const KINDS = ['handler', 'wait', 'human', 'workflow', 'abort', 'switch'] as const

/** Returns what happens when no one answers in time; undefined if the question waits for ever. */
export function timeoutOf(body: Json | undefined, stepId: string): OnTimeout | undefined {
  const steps = isObject(body) && Array.isArray(body.steps) ? body.steps.filter(isObject) : []
  const human = steps.find((step) => step.id === stepId)?.human
  const said = isObject(human) ? human.on_timeout : undefined
  if (typeof said === 'string') return { outcome: said, escalateTo: null }
  if (!isObject(said)) return undefined
  const outcome = typeof said.branch === 'string' ? 'branch' : typeof said.then === 'string' ? said.then : 'fail'
  return { outcome, escalateTo: typeof said.escalate_to === 'string' ? said.escalate_to : null }
}
