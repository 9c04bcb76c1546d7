/** Where things are on a page: shares 0…1 of its picture, turned and zoomed on the screen. Plain functions. */
import type { Box, PlacedWord } from './model'

export type Turn = 0 | 90 | 180 | 270
export type Size = { width: number; height: number }

/** How the turned page lies in its frame: its scale, and the place of its top left corner in pixels. */
export type Pose = { scale: number; x: number; y: number }

export const MOST_SCALE = 6
const MARGIN = 16

/** The size of a page after a turn. */
export function turnedSize({ width, height }: Size, turn: Turn): Size {
  return turn % 180 === 0 ? { width, height } : { width: height, height: width }
}

/** A box of the page on the turned page. */
export function turnedBox([left, top, right, bottom]: Box, turn: Turn): Box {
  if (turn === 90) return [1 - bottom, left, 1 - top, right]
  if (turn === 180) return [1 - right, 1 - bottom, 1 - left, 1 - top]
  if (turn === 270) return [top, 1 - right, bottom, 1 - left]
  return [left, top, right, bottom]
}

/** The whole page, centred. `page` is its turned size at scale 1. */
export function whole(page: Size, frame: Size): Pose {
  const scale = Math.min((frame.width - 2 * MARGIN) / page.width, (frame.height - 2 * MARGIN) / page.height)
  return centred(Math.max(scale, 0.01), 0.5, 0.5, page, frame)
}

/** The page as wide as its frame, from its top. */
export function wide(page: Size, frame: Size): Pose {
  const scale = Math.max((frame.width - 2 * MARGIN) / page.width, 0.01)
  return kept({ scale, x: MARGIN, y: MARGIN }, page, frame)
}

/** The page zoomed so that a box of the turned page can be read, with what is around it. */
export function around(box: Box, page: Size, frame: Size): Pose {
  const [left, top, right, bottom] = box
  const fit = wide(page, frame).scale
  const wanted = Math.min(
    (0.55 * frame.width) / Math.max((right - left) * page.width, 1),
    (0.2 * frame.height) / Math.max((bottom - top) * page.height, 1),
  )
  const scale = Math.min(Math.max(wanted, fit), 1.8 * fit)
  return centred(scale, (left + right) / 2, (top + bottom) / 2, page, frame)
}

/** The pose zoomed by a factor, with the point of the frame at `x`, `y` staying where it is. */
export function zoomed(pose: Pose, factor: number, x: number, y: number, page: Size, frame: Size): Pose {
  const least = Math.min(whole(page, frame).scale, 1)
  const scale = Math.min(Math.max(pose.scale * factor, least), MOST_SCALE)
  const by = scale / pose.scale
  return kept({ scale, x: x - (x - pose.x) * by, y: y - (y - pose.y) * by }, page, frame)
}

export function moved(pose: Pose, dx: number, dy: number, page: Size, frame: Size): Pose {
  return kept({ ...pose, x: pose.x + dx, y: pose.y + dy }, page, frame)
}

function centred(scale: number, x: number, y: number, page: Size, frame: Size): Pose {
  const pose = { scale, x: frame.width / 2 - x * page.width * scale, y: frame.height / 2 - y * page.height * scale }
  return kept(pose, page, frame)
}

/** The pose moved so that no part of the frame is empty that the page could fill; a smaller page is centred. */
function kept({ scale, x, y }: Pose, page: Size, frame: Size): Pose {
  return { scale, x: inside(x, page.width * scale, frame.width), y: inside(y, page.height * scale, frame.height) }
}

function inside(start: number, length: number, room: number): number {
  if (length + 2 * MARGIN <= room) return (room - length) / 2
  return Math.min(Math.max(start, room - length - MARGIN), MARGIN)
}

/** The word at a point of the page, in shares; the nearest within a small distance. */
export function wordAt(words: readonly PlacedWord[], x: number, y: number): number | undefined {
  const near = 0.006
  let found: number | undefined
  let least = near
  words.forEach(({ box: [left, top, right, bottom] }, index) => {
    const distance = Math.max(left - x, x - right, top - y, y - bottom, 0)
    if (distance < least) {
      least = distance
      found = index
    }
  })
  return found
}

/** The words between two, in reading order, as one text with its place. */
export function wordsBetween(words: readonly PlacedWord[], from: number, to: number): PlacedWord | undefined {
  const chosen = words.slice(Math.min(from, to), Math.max(from, to) + 1)
  const [first] = chosen
  if (!first) return undefined
  const box = chosen.reduce<Box>(
    ([left, top, right, bottom], { box: other }) => [
      Math.min(left, other[0]),
      Math.min(top, other[1]),
      Math.max(right, other[2]),
      Math.max(bottom, other[3]),
    ],
    first.box,
  )
  return { text: chosen.map((word) => word.text).join(' '), box }
}
