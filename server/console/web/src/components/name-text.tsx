import { Tooltip } from '@mantine/core';
import { hasHidden, nameParts, shorten } from '../text/names.ts';
import { say } from '../texts/say.ts';
import { t } from '../texts/texts.ts';

/** The name of an object or a file: long ones are shortened in the middle, and hidden characters are marked. */
export function NameText({ name, max = 80 }: { readonly name: string; readonly max?: number }) {
  const short = shorten(name, max);
  if (!hasHidden(name)) {
    // `bdi` keeps the direction of the name from the text around it.
    return <bdi title={short === name ? undefined : name}>{short}</bdi>;
  }
  return (
    <bdi>
      {nameParts(short).map((part, index) =>
        part.kind === 'text' ? (
          <bdi key={index}>{part.text}</bdi>
        ) : (
          <Tooltip key={index} label={say(t.components.aHiddenCharacterTheNameMayLook, { code: part.code })}>
            <span className="hidden-character">{part.code}</span>
          </Tooltip>
        ),
      )}
    </bdi>
  );
}
