/** An arrow of the drawing. One over several layers passes between the nodes on its way, where the layout has put it. */
import { BaseEdge, type Edge, type EdgeProps, getBezierPath } from '@xyflow/react'
import { memo } from 'react'

import type { Place } from './layout'

export type DrawnEdge = Edge<{ bends: Place[] }, 'drawn'>

export const EdgeView = memo(function EdgeView(props: EdgeProps<DrawnEdge>) {
  const { sourceX, sourceY, targetX, targetY, label, markerEnd, data } = props
  const bends = data?.bends ?? []
  const [direct, labelX, labelY] = getBezierPath(props)
  const middle = bends[Math.floor(bends.length / 2)]
  const path = middle ? through([{ x: sourceX, y: sourceY }, ...bends, { x: targetX, y: targetY }]) : direct
  return (
    <BaseEdge
      path={path}
      label={label}
      labelX={middle?.x ?? labelX}
      labelY={middle?.y ?? labelY}
      markerEnd={markerEnd}
    />
  )
})

/** A curve from left to right that is level at each point. */
function through([first, ...others]: Place[]): string {
  let before = first ?? { x: 0, y: 0 }
  const parts = others.map((next) => {
    const half = (before.x + next.x) / 2
    const part = `C ${half} ${before.y} ${half} ${next.y} ${next.x} ${next.y}`
    before = next
    return part
  })
  return `M ${first?.x ?? 0} ${first?.y ?? 0} ${parts.join(' ')}`
}
