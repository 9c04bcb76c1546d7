import { ActionIcon, Anchor, Text } from '@mantine/core'
import {
  IconAlertTriangle,
  IconCheck,
  IconClock,
  IconCopy,
  IconLoader2,
  IconRefresh,
  IconUpload,
  IconX,
} from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'

import { visible } from '@/format/text'
import { Name } from '@/kit/Values'
import { State } from '@/kit/State'

import { cancel, type Stage, tryAgain, type Upload } from './queue'
import classes from './UploadPanel.module.css'

const LOOKS = {
  queued: [IconClock, 'gray'],
  sending: [IconUpload, 'ink'],
  reading: [IconLoader2, 'ink'],
  ready: [IconCheck, 'teal'],
  failed: [IconAlertTriangle, 'red'],
  refused: [IconAlertTriangle, 'red'],
  cancelled: [IconX, 'gray'],
} as const satisfies Record<Stage, unknown>

/** One document that is sent: how far it is, what it duplicates, why it failed. */
export function UploadRow({ upload }: { upload: Upload }) {
  const { t } = useTranslation()
  const { id, name, stage, documentId, duplicateOf, message } = upload
  const [icon, color] = LOOKS[stage]
  const isDuplicate = duplicateOf !== undefined && stage === 'ready'
  return (
    <li className={classes.row}>
      <Text size="sm" className={classes.name}>
        {documentId ? (
          <Anchor component={Link} to={`/documents/${documentId}`} c="inherit" inherit>
            <Name value={name} most={44} />
          </Anchor>
        ) : (
          <Name value={name} most={44} />
        )}
      </Text>
      {isDuplicate ? (
        <State icon={IconCopy} color="yellow">
          {t('inbox.upload.stages.duplicate')}
        </State>
      ) : (
        <State icon={icon} color={color}>
          {t(`inbox.upload.stages.${stage}`)}
        </State>
      )}
      {stage === 'queued' || stage === 'sending' ? (
        <ActionIcon size="sm" aria-label={t('inbox.upload.cancel', { name })} onClick={() => cancel(id)}>
          <IconX size={14} />
        </ActionIcon>
      ) : stage === 'refused' ? (
        <ActionIcon size="sm" aria-label={t('inbox.upload.tryAgain', { name })} onClick={() => tryAgain(id)}>
          <IconRefresh size={14} />
        </ActionIcon>
      ) : (
        <span />
      )}
      {message && (
        <Text size="xs" c="dimmed" className={classes.message}>
          {visible(message)}
        </Text>
      )}
      {duplicateOf && (
        <Text size="xs" c="dimmed" className={classes.message}>
          {t('inbox.upload.duplicateOf')}{' '}
          <Anchor component={Link} to={`/documents/${duplicateOf}`} inherit>
            {duplicateOf}
          </Anchor>
        </Text>
      )}
    </li>
  )
}
