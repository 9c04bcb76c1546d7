/** Make a key, or give one a new secret, and show the secret once. */
import { Alert, Button, Checkbox, CopyButton, Group, Select, Stack, TextInput } from '@mantine/core'
import { IconAlertTriangle, IconCheck, IconCopy } from '@tabler/icons-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'

import type { Model } from '@/api/client'
import { keys } from '@/api/keys'
import type { Scope } from '@/api/me'
import { Dialog } from '@/kit/Dialog'

import { FormDialog } from './FormDialog'
import classes from './Operations.module.css'
import { createKey, type Key, rotateKey, useChange } from './queries'

const SCOPES: readonly Scope[] = ['submit', 'read', 'review', 'operate', 'admin']
const LIFETIMES = ['30', '90', '365', 'never'] as const
const OVERLAPS = ['0', '1', '24', '168'] as const
const DAY_MS = 86_400_000

type Made = { onMade: (made: Model<'NewKey'>) => void; onClose: () => void }

export function CreateDialog({ onMade, onClose }: Made) {
  const { t } = useTranslation()
  const [name, setName] = useState('')
  const [scopes, setScopes] = useState<string[]>(['submit', 'read'])
  const [days, setDays] = useState<string | null>('365')
  const change = useChange(createKey, keys.keys.all)
  const orderNow = () => ({ name, scopes: scopes as Scope[], expires_at: inDays(days) })
  return (
    <FormDialog
      title={t('operations.keys.create')}
      means={t('operations.keys.createMeans')}
      action={t('operations.keys.create')}
      change={change}
      onClose={onClose}
      onSubmit={() => change.mutate(orderNow(), { onSuccess: onMade })}
    >
      <TextInput
        label={t('operations.keys.name')}
        description={t('operations.keys.nameHint')}
        value={name}
        maxLength={64}
        required
        onChange={(event) => setName(event.currentTarget.value)}
        data-autofocus
      />
      <Checkbox.Group label={t('operations.scopes')} value={scopes} onChange={setScopes}>
        <Stack gap={6} mt={6}>
          {SCOPES.map((scope) => (
            <Checkbox key={scope} value={scope} size="xs" label={t(`operations.keys.scopes.${scope}`)} />
          ))}
        </Stack>
      </Checkbox.Group>
      <Select
        label={t('operations.keys.expires')}
        data={LIFETIMES.map((value) => ({ value, label: t(`operations.keys.lifetimes.${value}`) }))}
        value={days}
        onChange={setDays}
        allowDeselect={false}
      />
    </FormDialog>
  )
}

function inDays(days: string | null): string | null {
  return days === 'never' || days === null ? null : new Date(Date.now() + Number(days) * DAY_MS).toISOString()
}

export function RotateDialog({ found, onMade, onClose }: Made & { found: Key }) {
  const { t } = useTranslation()
  const [hours, setHours] = useState<string | null>('24')
  const change = useChange(rotateKey, keys.keys.all)
  const order = { key_id: found.key_id, overlap_hours: Number(hours ?? 0) }
  return (
    <FormDialog
      title={t('operations.keys.rotateOf', { name: found.name })}
      means={t('operations.keys.rotateMeans')}
      action={t('operations.keys.rotate')}
      change={change}
      onClose={onClose}
      onSubmit={() => change.mutate(order, { onSuccess: onMade })}
    >
      <Select
        label={t('operations.keys.overlap')}
        data={OVERLAPS.map((value) => ({ value, label: t(`operations.keys.overlaps.${value}`) }))}
        value={hours}
        onChange={setHours}
        allowDeselect={false}
        data-autofocus
      />
    </FormDialog>
  )
}

/** The only place that shows a secret. A click outside the dialog does not close it. */
export function SecretDialog({ made, onClose }: { made: Model<'NewKey'>; onClose: () => void }) {
  const { t } = useTranslation()
  return (
    <Dialog
      onClose={onClose}
      closeOnClickOutside={false}
      size="lg"
      title={t('operations.keys.secretOf', { name: made.details.name })}
    >
      <Stack gap="sm">
        <Alert color="yellow" icon={<IconAlertTriangle size={18} aria-hidden />}>
          {t('operations.keys.once')}
        </Alert>
        <Group gap="xs" align="flex-end" wrap="nowrap">
          <TextInput
            label={t('operations.keys.secret')}
            value={made.key}
            readOnly
            onFocus={(event) => event.currentTarget.select()}
            classNames={{ input: classes.secret }}
            style={{ flex: 1 }}
            data-autofocus
          />
          <CopyButton value={made.key}>
            {({ copied, copy }) => (
              <Button
                size="sm"
                leftSection={copied ? <IconCheck size={15} aria-hidden /> : <IconCopy size={15} aria-hidden />}
                onClick={copy}
              >
                {t(copied ? 'app.copied' : 'app.copy')}
              </Button>
            )}
          </CopyButton>
        </Group>
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {t('operations.keys.stored')}
          </Button>
        </Group>
      </Stack>
    </Dialog>
  )
}
