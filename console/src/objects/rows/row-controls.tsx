// The controls of each row of a folder. Mantine's own checkbox, button and text look the same and take ten times as long to render, which counts
// for the fifty rows of a window that come at once.
import { Checkbox, CheckIcon } from '@mantine/core';
import type { ComponentProps } from 'react';
import { formatExactTime, formatSecond, formatTime } from '../../text/format.ts';

interface RowCheckboxProps {
  readonly label: string;
  readonly checked: boolean;
  readonly onChange: (checked: boolean) => void;
}

const { inner, input, icon } = Checkbox.classes;

export function RowCheckbox({ label, checked, onChange }: RowCheckboxProps) {
  return (
    <span className={`row-check ${inner}`}>
      <input
        type="checkbox"
        className={`mantine-focus-auto ${input}`}
        aria-label={label}
        checked={checked}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
      <CheckIcon className={icon} />
    </span>
  );
}

/** A button with an icon. */
export function RowButton(props: ComponentProps<'button'>) {
  return <button type="button" className="row-button mantine-focus-auto mantine-active" {...props} />;
}

interface RowTimeProps {
  readonly at: string;
  /** Shows seconds: versions of an object follow each other within a minute. */
  readonly ofVersion: boolean;
}

/** A time; its tooltip has seconds and the time zone. */
export function RowTime({ at, ofVersion }: RowTimeProps) {
  return (
    <time className="row-text row-time" dateTime={at} title={formatExactTime(at)}>
      {ofVersion ? formatSecond(at) : formatTime(at)}
    </time>
  );
}
