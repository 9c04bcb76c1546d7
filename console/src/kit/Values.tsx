import { Text, Tooltip } from '@mantine/core'

import { useSignal } from '@/app/signal'
import * as dates from '@/format/dates'
import * as numbers from '@/format/numbers'
import { shortened, visible } from '@/format/text'
import { zoneChoice, zoneName } from '@/format/zone'

/** An instant with its zone. */
export function Time({ value }: { value: string }) {
  const zone = zoneName(useSignal(zoneChoice))
  return (
    <time dateTime={value} title={dates.exactTime(value, zone)}>
      {dates.time(value, zone)}
    </time>
  )
}

/** A date without a zone, in the order of the locale. */
export function DateOnly({ value }: { value: string }) {
  return <time dateTime={value}>{dates.date(value)}</time>
}

/** An amount, aligned for columns of numbers. */
export function Money({ value, currency }: { value: string; currency?: string | null }) {
  return <span className="numbers">{numbers.money(value, currency)}</span>
}

/** A name from outside, such as that of a file: as text, with hidden characters made visible; the whole in a tooltip. */
export function Name({ value, most = 60 }: { value: string; most?: number }) {
  const whole = visible(value)
  const shown = shortened(whole, most)
  if (shown === whole) return <bdi>{whole}</bdi>
  return (
    <Tooltip label={shortened(whole, 1000)} multiline maw={480} style={{ overflowWrap: 'anywhere' }}>
      <bdi>{shown}</bdi>
    </Tooltip>
  )
}

/** An id, in a font in which its characters differ. */
export function Id({ value }: { value: string }) {
  return (
    <Text span ff="monospace" size="xs">
      {value}
    </Text>
  )
}
