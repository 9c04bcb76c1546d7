import {
  Avatar,
  Menu,
  SegmentedControl,
  Select,
  Stack,
  Text,
  UnstyledButton,
  useMantineColorScheme,
} from '@mantine/core'
import { IconApi, IconKeyboard, IconLogout } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'

import { useMe } from '@/api/me'
import { localZone, zoneChoice, zoneName } from '@/format/zone'
import { helpOpened } from '@/keyboard/HelpDialog'
import { KeysOf } from '@/kit/Keys'
import { signOut } from '@/signin/session'
import { chooseLanguage, languageChoice, languages, nameOf } from '@/texts/texts'

import classes from './Account.module.css'
import { basePath } from './base'
import { useSignal } from './signal'

/** The signed-in person, with what they may choose for this browser. */
export function Account({ isNarrow }: { isNarrow: boolean }) {
  const { t } = useTranslation()
  const me = useMe()
  if (!me) return null
  return (
    <Menu position="right-end" width={260} closeOnItemClick={false} withinPortal>
      <Menu.Target>
        <UnstyledButton
          className={classes.account}
          data-narrow={isNarrow}
          aria-label={isNarrow ? t('app.account', { name: me.name }) : undefined}
        >
          <Avatar size={28} color="ink" name={isNarrow ? undefined : me.name} aria-hidden />
          {!isNarrow && (
            <Stack gap={0} miw={0} style={{ flex: 1 }}>
              <Text size="sm" fw={500} truncate>
                {me.name}
              </Text>
              <Text size="xs" c="dimmed" truncate>
                {me.authenticated_by === 'local' ? t('app.local') : t('app.tenant', { tenant: me.tenant })}
              </Text>
            </Stack>
          )}
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <Choices />
        <Menu.Divider />
        <Menu.Item
          closeMenuOnClick
          leftSection={<IconKeyboard size={16} />}
          rightSection={<KeysOf command="general.help" />}
          onClick={() => helpOpened.set(true)}
        >
          {t('keyboard.title')}
        </Menu.Item>
        <Menu.Item
          component="a"
          href={`${basePath}/docs`}
          target="_blank"
          rel="noreferrer"
          leftSection={<IconApi size={16} />}
        >
          {t('app.apiPage')}
        </Menu.Item>
        {me.authenticated_by === 'session' && (
          <Menu.Item closeMenuOnClick leftSection={<IconLogout size={16} />} onClick={() => void signOut()}>
            {t('app.signOut')}
          </Menu.Item>
        )}
      </Menu.Dropdown>
    </Menu>
  )
}

/** Appearance, language and zone of times. */
function Choices() {
  const { t } = useTranslation()
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  const zone = useSignal(zoneChoice)
  const language = useSignal(languageChoice)
  return (
    <Stack gap="sm" p="xs">
      <Choice label={t('app.appearance')}>
        <SegmentedControl
          fullWidth
          size="xs"
          aria-label={t('app.appearance')}
          value={colorScheme}
          onChange={(chosen) => setColorScheme(chosen === 'light' || chosen === 'dark' ? chosen : 'auto')}
          data={[
            { value: 'auto', label: t('app.system') },
            { value: 'light', label: t('app.light') },
            { value: 'dark', label: t('app.dark') },
          ]}
        />
      </Choice>
      <Choice label={t('app.language')}>
        <Select
          size="xs"
          aria-label={t('app.language')}
          value={language}
          allowDeselect={false}
          comboboxProps={{ withinPortal: false }}
          onChange={(chosen) => void chooseLanguage(chosen ?? '')}
          data={[
            { value: '', label: t('app.ofBrowser') },
            ...languages.map((each) => ({ value: each, label: nameOf(each) })),
          ]}
        />
      </Choice>
      <Choice label={t('app.times')}>
        <SegmentedControl
          fullWidth
          size="xs"
          aria-label={t('app.times')}
          value={zone}
          onChange={(chosen) => zoneChoice.set(chosen === 'utc' ? 'utc' : 'local')}
          data={[
            { value: 'local', label: localZone === 'UTC' ? t('app.localTimes') : localZone },
            { value: 'utc', label: 'UTC' },
          ]}
        />
        <Text size="xs" c="dimmed" mt={4}>
          {t('app.timesIn', { zone: zoneName(zone) })}
        </Text>
      </Choice>
    </Stack>
  )
}

function Choice({ label, children }: { label: string; children: React.ReactNode }) {
  return (
    <div>
      <Text size="xs" c="dimmed" mb={4} aria-hidden>
        {label}
      </Text>
      {children}
    </div>
  )
}
