import { Alert, Text } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { IconAlertTriangle } from '@tabler/icons-react';
import { useId } from 'react';
import { PolicyText } from './policy-text.tsx';
import { Statements } from './statements.tsx';
import { useCheckedDocument } from '../api/policies.ts';
import { Section } from '../components/detail-page.tsx';
import { t } from '../texts/texts.ts';

interface PolicyEditorProps {
  readonly value: string;
  readonly onChange: (document: string) => void;
  readonly label?: string;
  readonly required?: boolean;
  /** The bucket whose policy it is; absent for a policy of users. */
  readonly bucket?: string;
}

/** An editor of the JSON, with the content that the server parsed from it. */
export function PolicyEditor({
  value,
  onChange,
  label = t.policies.document,
  required = true,
  bucket,
}: PolicyEditorProps) {
  const [settled] = useDebouncedValue(value, 300);
  const checked = useCheckedDocument(settled, bucket);
  const answerId = useId();
  const empty = settled.trim() === '';
  return (
    <>
      <PolicyText
        label={label}
        required={required}
        value={value}
        invalid={!empty && checked.isError}
        describedBy={answerId}
        onChange={onChange}
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
          <Section title={t.policies.whatItSays}>
            {checked.data.content.length === 0 ? (
              <Text size="sm">{t.policies.nothing}</Text>
            ) : (
              <Statements statements={checked.data.content} />
            )}
          </Section>
        )}
      </div>
    </>
  );
}
