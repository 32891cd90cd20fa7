import { Tooltip } from '@mantine/core';
import type { ReactNode } from 'react';
import { hasHidden, nameEnds, nameParts, shorten } from '../text/names.ts';
import { rich, say, type Say } from '../texts/say.ts';
import { t } from '../texts/texts.ts';

/** The name of an object or a file: long ones are shortened in the middle, and hidden characters are marked. */
export function NameText({ name, max = 80 }: { readonly name: string; readonly max?: number }) {
  const short = shorten(name, max);
  if (!hasHidden(name)) {
    // `bdi` keeps the direction of the name from the text around it.
    return <bdi title={short === name ? undefined : name}>{short}</bdi>;
  }
  return (
    <bdi title={short === name ? undefined : name}>
      <MarkedName name={short} />
    </bdi>
  );
}

/** As `say`, with each text among the values as a name that is not shortened: a prefix can have hidden characters too. */
export const sayNames: Say<ReactNode> = (message, values) => {
  const entries = Object.entries<string | number>(values).map(([key, value]) => [
    key,
    typeof value === 'string' ? <NameText name={value} max={Infinity} /> : value,
  ]);
  return rich<typeof message>(message, Object.fromEntries(entries));
};

/**
 * A name in one line. Where the line is too short, it shows the end of the name, the beginning as far as it fits, and an ellipsis between
 * them. The name is in the page as one text, which is searched, copied and read aloud; the style sheet draws its ends.
 */
export function FittedName({ name }: { readonly name: string }) {
  const ends = nameEnds(name);
  if (ends === undefined) return <NameText name={name} />;
  if (!hasHidden(name)) {
    return (
      <bdi className="fitted-name" title={name} data-head={ends.head} data-tail={ends.tail}>
        <span className="fitted-whole">{name}</span>
      </bdi>
    );
  }
  return (
    <bdi className="fitted-name" title={name}>
      <span className="fitted-head">
        <MarkedName name={ends.head} />
      </span>
      <span className="fitted-tail">
        <MarkedName name={ends.tail} />
      </span>
    </bdi>
  );
}

function MarkedName({ name }: { readonly name: string }) {
  return nameParts(name).map((part, index) =>
    part.kind === 'text' ? (
      <bdi key={index}>{part.text}</bdi>
    ) : (
      <Tooltip key={index} label={say(t.components.aHiddenCharacterTheNameMayLook, { code: part.code })}>
        <span className="hidden-character">{part.code}</span>
      </Tooltip>
    ),
  );
}
