import { Alert, Text, Textarea } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { IconAlertTriangle } from '@tabler/icons-react';
import { useId } from 'react';
import { Statements } from './statements.tsx';
import { useCheckedDocument } from '../api/policies.ts';
import { Section } from '../components/detail-page.tsx';

interface PolicyEditorProps {
  readonly value: string;
  readonly onChange: (document: string) => void;
  readonly label?: string;
  readonly required?: boolean;
}

/** An editor of the JSON, with the content that the server parsed from it. */
export function PolicyEditor({ value, onChange, label = 'Document', required = true }: PolicyEditorProps) {
  const [settled] = useDebouncedValue(value, 300);
  const checked = useCheckedDocument(settled);
  const answerId = useId();
  const empty = settled.trim() === '';
  return (
    <>
      <Textarea
        label={label}
        description="JSON as IAM has it: Version, and a list of statements with Effect, Action and Resource."
        required={required}
        withAsterisk={false}
        autosize
        minRows={8}
        maxRows={26}
        spellCheck={false}
        autoCapitalize="none"
        autoComplete="off"
        aria-describedby={answerId}
        aria-invalid={!empty && checked.isError}
        classNames={{ input: 'mono' }}
        value={value}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
      <div id={answerId} aria-live="polite">
        {!empty && checked.isError && (
          <Alert color="red" icon={<IconAlertTriangle size={18} />} style={{ overflowWrap: 'anywhere' }}>
            {checked.error.message}
          </Alert>
        )}
        {!empty &&
          checked.isSuccess &&
          checked.data.warnings.map((warning) => (
            <Alert
              key={warning}
              color="yellow"
              icon={<IconAlertTriangle size={18} />}
              mb="sm"
              style={{ overflowWrap: 'anywhere' }}
            >
              {warning}
            </Alert>
          ))}
        {!empty && checked.isSuccess && (
          <Section title="What it says">
            {checked.data.content.length === 0 ? (
              <Text size="sm">Nothing.</Text>
            ) : (
              <Statements statements={checked.data.content} />
            )}
          </Section>
        )}
      </div>
    </>
  );
}

/** The initial document, which allows to read one bucket. */
export const exampleDocument = JSON.stringify(
  {
    Version: '2012-10-17',
    Statement: [
      { Effect: 'Allow', Action: ['s3:ListBucket'], Resource: ['arn:aws:s3:::my-bucket'] },
      { Effect: 'Allow', Action: ['s3:GetObject'], Resource: ['arn:aws:s3:::my-bucket/*'] },
    ],
  },
  null,
  2,
);
