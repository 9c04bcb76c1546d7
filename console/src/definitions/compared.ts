/** Which version another one is compared with. */
import type { Aliases } from './queries'

/**
 * The chosen one; else what new runs get, or for that version the one before it. Undefined: there is no other version.
 * A canary and a version that waits are so compared with what they would replace.
 */
export function comparedWith(
  version: number,
  chosen: number | undefined,
  aliases: Aliases,
  versions: readonly { version: number }[],
): number | undefined {
  if (chosen !== undefined && chosen !== version) return chosen
  const stable = aliases.stable?.version
  if (stable !== undefined && stable !== version) return stable
  return (
    versions.find((each) => each.version < version)?.version ??
    versions.findLast((each) => each.version > version)?.version
  )
}
