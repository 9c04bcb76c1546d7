/** A value as text: never parsed, so that no number is rounded. The rest of a long one can be downloaded. */
import { Anchor, CopyButton, Group, ScrollArea, Text, UnstyledButton } from '@mantine/core'
import { IconCheck, IconCopy, IconDownload } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'

import type { Model } from '@/api/client'
import { bytes } from '@/format/numbers'
import { visibleLines } from '@/format/text'

import classes from './ValueView.module.css'

type Props = { label: string; value: Model<'ShownValue'>; download: string; fileName: string }

export function ValueView({ label, value, download, fileName }: Props) {
  const { t } = useTranslation()
  return (
    <section aria-label={label}>
      <Group justify="space-between" mb={4}>
        <Text size="xs" c="dimmed">
          {bytes(value.bytes)}
          {value.cut && ` · ${t('runs.step.cut')}`}
        </Text>
        <Group gap="sm">
          <CopyButton value={value.text}>
            {({ copied, copy }) => (
              <UnstyledButton className={classes.tool} onClick={copy}>
                {copied ? <IconCheck size={13} aria-hidden /> : <IconCopy size={13} aria-hidden />}{' '}
                {copied ? t('app.copied') : t('app.copy')}
              </UnstyledButton>
            )}
          </CopyButton>
          <Anchor className={classes.tool} href={download} download={fileName}>
            <IconDownload size={13} aria-hidden /> {t('runs.step.download')}
          </Anchor>
        </Group>
      </Group>
      <ScrollArea.Autosize mah={420} className={classes.box} viewportProps={{ tabIndex: 0, 'aria-label': label }}>
        <pre className={classes.text}>{visibleLines(value.text)}</pre>
      </ScrollArea.Autosize>
    </section>
  )
}
