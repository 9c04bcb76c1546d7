import { Modal, Stack, Text } from '@mantine/core'
import { useTranslation } from 'react-i18next'

import { signInNeeded } from '@/api/signed_in'
import { useSignal } from '@/app/signal'

import { SignInForm } from './SignInForm'

/** Asks to sign in again over the page, which stays as it is. It cannot be dismissed: requests wait for it. */
export function SignInDialog() {
  const { t } = useTranslation()
  const opened = useSignal(signInNeeded)
  const options = { withCloseButton: false, closeOnClickOutside: false, closeOnEscape: false }
  return (
    <Modal opened={opened} onClose={() => undefined} title={t('signin.again')} {...options}>
      <Stack gap="md">
        <Text size="sm">{t('signin.expired')}</Text>
        <SignInForm />
      </Stack>
    </Modal>
  )
}
