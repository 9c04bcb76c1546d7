/** Moves what new runs get: promote a version, give it to a share of runs, or undo the last move. */
import { useMutation, useQueryClient } from '@tanstack/react-query'

import { api, read } from '@/api/client'
import { keys } from '@/api/keys'

export type Move =
  | { kind: 'promote'; version: number }
  | { kind: 'canary'; version: number; percent: number }
  | { kind: 'alias'; version: number; alias: string }
  | { kind: 'remove'; alias: string }
  | { kind: 'rollback' }

export function useMove(definitionId: string) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: ({ move, reason }: { move: Move; reason: string }): Promise<unknown> =>
      send(definitionId, move, reason),
    onSettled: () => client.invalidateQueries({ queryKey: keys.definitions.all }),
  })
}

function send(definitionId: string, move: Move, reason: string) {
  const path = { definition_id: definitionId }
  switch (move.kind) {
    case 'promote':
      return setAlias(definitionId, 'stable', { version: move.version, reason })
    case 'canary':
      return setAlias(definitionId, 'canary', { version: move.version, percent: move.percent, reason })
    case 'alias':
      return setAlias(definitionId, move.alias, { version: move.version, reason })
    case 'remove':
      return read(
        api.DELETE('/v1/definitions/{definition_id}/aliases/{alias}', {
          params: { path: { ...path, alias: move.alias }, query: { reason } },
        }),
      )
    case 'rollback':
      return read(api.POST('/v1/definitions/{definition_id}/rollback', { params: { path }, body: { reason } }))
  }
}

function setAlias(definitionId: string, alias: string, body: { version: number; percent?: number; reason: string }) {
  const path = { definition_id: definitionId, alias }
  return read(api.PUT('/v1/definitions/{definition_id}/aliases/{alias}', { params: { path }, body }))
}
