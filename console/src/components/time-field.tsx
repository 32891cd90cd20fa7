import { TextInput, type TextInputProps } from '@mantine/core';
import { formatExactTime } from '../text/format.ts';
import { isoOf, ownZone } from '../text/zoned-time.ts';
import { say } from '../texts/say.ts';
import { t } from '../texts/texts.ts';

interface TimeFieldProps extends Pick<TextInputProps, 'label' | 'size' | 'error'> {
  /** A time without a zone, as `localText` makes it; empty for none. */
  readonly value: string;
  readonly onChange: (value: string) => void;
  /** The meaning of an empty field. */
  readonly empty?: string;
}

/** A field for a date and a time of the user. It shows the moment in words, with its zone. */
export function TimeField({ value, onChange, empty, ...input }: TimeFieldProps) {
  const zone = ownZone();
  const moment = isoOf(value, zone);
  const words = moment === undefined ? say(t.labels.timeInYourZone, { zone }) : formatExactTime(moment);
  return (
    <TextInput
      type="datetime-local"
      step={1}
      {...input}
      description={empty === undefined ? words : `${words} ${empty}`}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
}
