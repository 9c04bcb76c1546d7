import { Anchor, Text } from '@mantine/core'

type Props = { words: string; label: string; onBack: () => void }

/** Why an earlier document was not decided, with the way back to it. */
export function LateRefusal({ words, label, onBack }: Props) {
  return (
    <Text size="sm" component="div">
      {words}{' '}
      <Anchor component="button" type="button" size="sm" onClick={onBack}>
        {label}
      </Anchor>
    </Text>
  )
}
