import { Anchor, Button, Paper, Text } from '@mantine/core'
import { useTranslation } from 'react-i18next'

import { count } from '@/format/numbers'
import { KeysOf } from '@/kit/Keys'

import classes from './SelectionBar.module.css'
import type { Selection } from './use_selection'

type Props = { selection: Selection; loaded: number; total: number; onApprove: () => void }

/** What can be done with the selected documents. */
export function SelectionBar({ selection, loaded, total, onApprove }: Props) {
  const { t } = useTranslation()
  const { ids, isEverything } = selection
  return (
    <Paper className={classes.bar} shadow="md">
      <Text size="sm" fw={600} role="status">
        {isEverything ? t('inbox.everythingSelected', { count: total }) : t('inbox.selected', { count: ids.size })}
      </Text>
      {!isEverything && ids.size >= loaded && total > loaded && (
        <Anchor component="button" size="sm" onClick={selection.selectEverything}>
          {t('inbox.selectEverything', { number: count(total) })}
        </Anchor>
      )}
      <Button onClick={onApprove} rightSection={<KeysOf command="list.approve" />}>
        {t('inbox.approveSelected')}
      </Button>
      <Button variant="subtle" color="gray" onClick={selection.clear}>
        {t('inbox.clearSelection')}
      </Button>
    </Paper>
  )
}
