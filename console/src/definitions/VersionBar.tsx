/** The version that is shown, and what may be done with it. The server says what, and why not. */
import { Button, Group, Menu, Text, Title, Tooltip } from '@mantine/core'
import { IconCircleCheck, IconDots, IconFlask, IconPlayerPlay, IconTag } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'

import { useMay } from '@/api/me'
import { Name, Time } from '@/kit/Values'
import { reasonWords } from '@/texts/reasons'

import classes from './definitions.module.css'
import type { Move } from './moving'
import type { Aliases, Stored, Version } from './queries'

type Props = {
  stored: Stored
  /** Its line in the list, which has its actions; undefined if its page is not loaded. */
  version: Version | undefined
  aliases: Aliases
  onMove: (move: Move) => void
  onStart: (version: number) => void
}

const FIRST_SHARE = 10

export function VersionBar({ stored, version, aliases, onMove, onStart }: Props) {
  const { t, i18n } = useTranslation()
  const mayMove = useMay('operate')
  const number = stored.version
  const share = aliases.canary?.version === number ? (aliases.canary.percent ?? FIRST_SHARE) : FIRST_SHARE
  const refusal = (name: string) => {
    const found = version?.actions.find((each) => each.name === name && !each.allowed)
    if (!found) return undefined
    return reasonWords({ code: found.reason_code, message: found.reason }, t, i18n.language, 'runs.refused').title
  }
  return (
    <div className={classes.bar}>
      <div style={{ minWidth: 0 }}>
        <Title order={2}>{t('definitions.versionTitle', { version: number })}</Title>
        <Text size="xs" c="dimmed">
          {t('definitions.published')} <Time value={stored.created_at} /> ·{' '}
          <Name value={stored.published_by} most={40} />
          {stored.reason && (
            <>
              {' · '}
              <Name value={stored.reason} most={160} />
            </>
          )}
        </Text>
      </div>
      {mayMove && (
        <Group gap="xs">
          <Refusable
            refusal={refusal('promote')}
            icon={<IconCircleCheck size={14} aria-hidden />}
            onClick={() => onMove({ kind: 'promote', version: number })}
          >
            {t('definitions.do.promote')}
          </Refusable>
          <Refusable
            refusal={refusal('canary')}
            icon={<IconFlask size={14} aria-hidden />}
            onClick={() => onMove({ kind: 'canary', version: number, percent: share })}
          >
            {t(aliases.canary?.version === number ? 'definitions.do.share' : 'definitions.do.canary')}
          </Refusable>
          <Menu position="bottom-end">
            <Menu.Target>
              <Button variant="default" px={8} aria-label={t('runs.more')}>
                <IconDots size={14} aria-hidden />
              </Button>
            </Menu.Target>
            <Menu.Dropdown>
              <Menu.Item leftSection={<IconPlayerPlay size={14} aria-hidden />} onClick={() => onStart(number)}>
                {t('definitions.do.start')}
              </Menu.Item>
              <Menu.Item
                leftSection={<IconTag size={14} aria-hidden />}
                onClick={() => onMove({ kind: 'alias', version: number, alias: '' })}
              >
                {t('definitions.do.alias')}
              </Menu.Item>
            </Menu.Dropdown>
          </Menu>
        </Group>
      )}
    </div>
  )
}

type RefusableProps = { refusal: string | undefined; icon: React.ReactNode; onClick: () => void; children: string }

/** A button that says why it may not be pressed. It keeps the focus, so that the reason can be read by keyboard. */
function Refusable({ refusal, icon, onClick, children }: RefusableProps) {
  const isRefused = refusal !== undefined
  return (
    <Tooltip label={refusal} disabled={!isRefused} events={{ hover: true, focus: true, touch: true }}>
      <Button
        variant="default"
        leftSection={icon}
        data-disabled={isRefused || undefined}
        aria-disabled={isRefused || undefined}
        aria-description={refusal}
        onClick={isRefused ? undefined : onClick}
      >
        {children}
      </Button>
    </Tooltip>
  )
}
