/** The texts of the console in each language: one file a language, found by itself. English is complete and always there. */
import i18next, { type i18n } from 'i18next'
import { initReactI18next } from 'react-i18next'

import { preference } from '@/app/preferences'

import en from './en.json'

declare module 'i18next' {
  interface CustomTypeOptions {
    defaultNS: 'translation'
    resources: { translation: typeof en }
  }
}

type Texts = { default: object }

const others = import.meta.glob<Texts>(['./*.json', '!./en.json'])

/** The languages that have a file. */
export const languages: string[] = ['en', ...Object.keys(others).map((path) => path.slice(2, -'.json'.length))]

/** The language that the person has chosen; empty: that of the browser. */
export const languageChoice = preference('language', (stored) => languages.find((each) => each === stored) ?? '')

/** Loads the texts in the person's language. Nothing is drawn before. */
export async function loadTexts(): Promise<i18n> {
  await i18next.use(initReactI18next).init({
    resources: { en: { translation: en } },
    lng: 'en',
    fallbackLng: 'en',
    interpolation: { escapeValue: false }, // React escapes
  })
  await speak(languageChoice.get())
  return i18next
}

/** Changes the language of the texts and keeps the choice; empty: that of the browser. */
export async function chooseLanguage(language: string): Promise<void> {
  languageChoice.set(language)
  await speak(language)
}

async function speak(chosen: string): Promise<void> {
  const language = chosen || ofBrowser()
  const load = others[`./${language}.json`]
  if (load && !i18next.hasResourceBundle(language, 'translation')) {
    i18next.addResourceBundle(language, 'translation', (await load()).default)
  }
  await i18next.changeLanguage(language)
  document.documentElement.lang = language
}

function ofBrowser(): string {
  const wanted = navigator.languages.map((each) => each.split('-')[0] ?? '')
  return wanted.find((each) => languages.includes(each)) ?? 'en'
}

/** A language's name in itself: `Deutsch`. */
export function nameOf(language: string): string {
  return new Intl.DisplayNames(language, { type: 'language' }).of(language) ?? language
}
