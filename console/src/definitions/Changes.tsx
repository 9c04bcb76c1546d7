/** What changed between two versions, as the server compares them: step by step, and field by field. */
import { Badge, Group, Select, Stack, Text } from '@mantine/core'
import { IconArrowsSort, IconMinus, IconPlus, IconReplace } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'

import { visible } from '@/format/text'
import { Empty } from '@/kit/Empty'
import { Loading } from '@/kit/Loading'
import { Trouble } from '@/kit/Trouble'

import classes from './definitions.module.css'
import { type Aliases, type Comparison, comparisonQuery, type Stored, type Version } from './queries'
import { comparedWith } from './compared'

type Props = {
  stored: Stored
  versions: readonly Version[]
  aliases: Aliases
  from: number | undefined
  onFrom: (from: number) => void
}

export function Changes({ stored, versions, aliases, from, onFrom }: Props) {
  const { t } = useTranslation()
  const before = comparedWith(stored.version, from, aliases, versions)
  const found = useQuery({
    ...comparisonQuery(stored.definition_id, before ?? 0, stored.version),
    enabled: before !== undefined,
  })
  const others = versions.filter((each) => each.version !== stored.version)
  if (before === undefined) return <Empty icon={IconReplace} title={t('definitions.changes.first')} />
  return (
    <Stack className={classes.padded} gap="md">
      <Group gap="xs">
        <Text size="sm">{t('definitions.changes.from')}</Text>
        <Select
          size="xs"
          w={180}
          aria-label={t('definitions.changes.from')}
          value={String(before)}
          allowDeselect={false}
          data={others.map((each) => ({
            value: String(each.version),
            label: t('definitions.versionTitle', { version: each.version }),
          }))}
          onChange={(value) => value && onFrom(Number(value))}
        />
        <Text size="sm">{t('definitions.changes.to', { version: stored.version })}</Text>
      </Group>
      {found.error && <Trouble error={found.error} retry={() => void found.refetch()} />}
      {found.isLoading && <Loading height={120} />}
      {found.data && <ChangeList found={found.data} />}
    </Stack>
  )
}

export function ChangeList({ found }: { found: Comparison }) {
  const { t } = useTranslation()
  const isEmpty =
    found.added.length + found.removed.length + found.changed.length + found.fields.length === 0 && !found.reordered
  if (isEmpty) return <Text size="sm">{t('definitions.changes.none')}</Text>
  return (
    <ul className={classes.changes} aria-label={t('definitions.tab.changes')}>
      {found.added.map((step) => (
        <Line key={`+${step}`} icon={IconPlus} colour="teal" word={t('definitions.changes.added')} step={step} />
      ))}
      {found.removed.map((step) => (
        <Line key={`-${step}`} icon={IconMinus} colour="red" word={t('definitions.changes.removed')} step={step} />
      ))}
      {found.changed.map((step) => (
        <Line key={step.id} icon={IconReplace} colour="blue" word={t('definitions.changes.changed')} step={step.id}>
          <Fields changes={step.changes} />
        </Line>
      ))}
      {found.reordered && <Line icon={IconArrowsSort} colour="blue" word={t('definitions.changes.reordered')} />}
      {found.fields.length > 0 && (
        <Line icon={IconReplace} colour="blue" word={t('definitions.changes.fields')}>
          <Fields changes={found.fields} />
        </Line>
      )}
    </ul>
  )
}

type LineProps = {
  icon: typeof IconPlus
  colour: string
  word: string
  step?: string
  children?: React.ReactNode
}

function Line({ icon: Icon, colour, word, step, children }: LineProps) {
  return (
    <li className={classes.change}>
      <div className={classes.changeHead}>
        <Badge color={colour} c="var(--mantine-color-text)" leftSection={<Icon size={13} aria-hidden />}>
          {word}
        </Badge>
        {step && <span>{step}</span>}
      </div>
      {children}
    </li>
  )
}

function Fields({ changes }: { changes: Comparison['fields'] }) {
  const { t } = useTranslation()
  return (
    <table className={classes.fields}>
      <tbody>
        {changes.map(({ path, kind, old, new: now }) => (
          <tr key={path}>
            <th scope="row">{path}</th>
            <td>
              {kind === 'added' ? (
                <span className={classes.hidden}>{t('definitions.changes.wasNot')}</span>
              ) : (
                <Value value={old} look={classes.old} />
              )}
              {kind === 'changed' && <span aria-label={t('definitions.changes.becomes')}> → </span>}
              {kind === 'removed' ? (
                <span className={classes.hidden}>{t('definitions.changes.isGone')}</span>
              ) : (
                <Value value={now} look={classes.new} />
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

const LONGEST = 2000

function Value({ value, look }: { value: unknown; look: string | undefined }) {
  const text = visible(typeof value === 'string' ? value : JSON.stringify(value))
  return <code className={look}>{text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text}</code>
}
