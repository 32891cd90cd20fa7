import { NativeSelect } from '@mantine/core';
import { chooseLanguage, language, languageNames, languages, type Language } from '../texts/language.ts';
import { t } from '../texts/texts.ts';

/** The language of the console. Its texts are read when the page is loaded, so that a choice loads the page again. */
export function LanguageSelect() {
  return (
    <NativeSelect
      size="xs"
      variant="unstyled"
      aria-label={t.shell.language}
      value={language}
      onChange={(event) => choose(event.currentTarget.value as Language)}
      data={languages.map((value) => ({ value, label: languageNames[value] }))}
    />
  );
}

function choose(next: Language): void {
  chooseLanguage(next);
  window.location.reload();
}
