import { Button, Divider, PasswordInput, Stack } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'

import { isProblem } from '@/api/problem'
import { Trouble } from '@/kit/Trouble'

import { methodsQuery, providerUrl, signIn } from './session'

/** Asks for a key, or leads to the identity provider, as far as the server knows them. */
export function SignInForm() {
  const { t } = useTranslation()
  const [key, setKey] = useState('')
  const methods = useQuery(methodsQuery)
  const signing = useMutation({ mutationFn: () => signIn(key.trim()) })
  const isWrong = isProblem(signing.error, 'unauthenticated')
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        signing.mutate()
      }}
    >
      <Stack gap="md">
        {signing.error && !isWrong && <Trouble error={signing.error} />}
        <PasswordInput
          label={t('signin.key')}
          description={t('signin.keyHint')}
          value={key}
          onChange={(event) => setKey(event.currentTarget.value)}
          error={isWrong && t('signin.wrongKey')}
          data-autofocus
          autoFocus
          required
          withAsterisk={false}
          autoComplete="current-password"
          inputWrapperOrder={['label', 'input', 'error', 'description']}
        />
        <Button type="submit" size="sm" fullWidth loading={signing.isPending}>
          {t('signin.submit')}
        </Button>
        {methods.data?.single_sign_on && (
          <>
            <Divider label={t('signin.or')} />
            <Button component="a" href={providerUrl()} variant="default" size="sm" fullWidth>
              {t('signin.provider')}
            </Button>
          </>
        )}
      </Stack>
    </form>
  )
}
