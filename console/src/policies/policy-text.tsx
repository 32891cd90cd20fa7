import { Button, Group, Text, Textarea } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type KeyboardEvent, useRef, useState } from 'react';
import type { PolicyNames } from '../../../protocol/console/identity-answers.ts';
import { useBuckets } from '../api/buckets.ts';
import { call } from '../api/call.ts';
import { completed, suggestions, typedAt } from './completion.ts';
import { t } from '../texts/texts.ts';

interface PolicyTextProps {
  readonly label: string;
  readonly required: boolean;
  readonly value: string;
  readonly invalid: boolean;
  /** The id of the element that says what is wrong. */
  readonly describedBy: string;
  readonly onChange: (document: string) => void;
}

/** The names that a policy may have: actions, condition keys, and the ARNs of the buckets that the user sees. */
function useNames(): readonly string[] {
  const names = useQuery({
    queryKey: ['policy-names'],
    queryFn: () => call<PolicyNames>('GET', '/policy-names'),
    staleTime: Number.POSITIVE_INFINITY,
  }).data;
  const buckets = useBuckets('').data ?? [];
  return [
    ...(names?.actions ?? []),
    ...(names?.keys ?? []),
    ...(names?.operators ?? []),
    ...buckets.flatMap(({ name }) => [`arn:aws:s3:::${name}`, `arn:aws:s3:::${name}/*`]),
  ];
}

/** The text of a policy. It suggests names while they are typed. */
export function PolicyText({ label, required, value, invalid, describedBy, onChange }: PolicyTextProps) {
  const input = useRef<HTMLTextAreaElement>(null);
  const [caret, setCaret] = useState(0);
  const shown = suggestions(typedAt(value, caret), useNames());

  function choose(name: string): void {
    const next = completed(value, caret, name);
    onChange(next.document);
    setCaret(next.caret);
    // The caret moves when React has written the text.
    requestAnimationFrame(() => {
      input.current?.focus();
      input.current?.setSelectionRange(next.caret, next.caret);
    });
  }

  function onKey(event: KeyboardEvent<HTMLTextAreaElement>): void {
    const [first] = shown;
    if (event.key !== ' ' || !event.ctrlKey || first === undefined) return;
    event.preventDefault();
    choose(first);
  }

  return (
    <div>
      <Textarea
        ref={input}
        label={label}
        description={t.policies.jsonAsIamHasItVersionAnd}
        required={required}
        withAsterisk={false}
        autosize
        minRows={8}
        maxRows={26}
        spellCheck={false}
        autoCapitalize="none"
        autoComplete="off"
        aria-describedby={describedBy}
        aria-invalid={invalid}
        classNames={{ input: 'mono' }}
        value={value}
        onChange={(event) => {
          onChange(event.currentTarget.value);
          setCaret(event.currentTarget.selectionStart);
        }}
        onSelect={(event) => setCaret(event.currentTarget.selectionStart)}
        onKeyDown={onKey}
      />
      {shown.length > 0 && (
        <Group gap={6} mt={6} role="group" aria-label={t.policies.namesThatBeginSo}>
          <Text size="xs" c="dimmed">
            {t.policies.complete}
          </Text>
          {shown.map((name) => (
            <Button key={name} size="compact-xs" variant="default" className="mono" onClick={() => choose(name)}>
              {name}
            </Button>
          ))}
        </Group>
      )}
    </div>
  );
}
