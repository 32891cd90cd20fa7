import { Accordion, Button, Code, Stack, Text } from '@mantine/core';
import type { PolicyAnswer } from '../../../contract/identity-answers.ts';
import { formatExactTime, formatTime } from '../text/time.ts';

interface EarlierVersionsProps {
  readonly policy: PolicyAnswer;
  /** Absent where the person may not save. */
  readonly onRestore?: (document: string) => void;
}

/** What the policy said before, the newest first; ten are kept. */
export function EarlierVersions({ policy, onRestore }: EarlierVersionsProps) {
  if (policy.earlier.length === 0) {
    return (
      <Text size="sm" c="dimmed">
        None: the policy was not changed since it was made. The last ten are kept.
      </Text>
    );
  }
  return (
    <Accordion variant="contained">
      {policy.earlier.map(({ document, updatedAt }, index) => (
        // Two may have been saved in the same millisecond.
        <Accordion.Item key={`${updatedAt} ${index}`} value={`${updatedAt} ${index}`}>
          <Accordion.Control>
            <time dateTime={updatedAt} title={formatExactTime(updatedAt)}>
              {formatTime(updatedAt)}
            </time>
          </Accordion.Control>
          <Accordion.Panel>
            <Stack gap="sm" align="flex-start">
              <Code block w="100%" tabIndex={0} aria-label={`Document of ${formatTime(updatedAt)}`}>
                {document}
              </Code>
              {onRestore !== undefined && (
                <Button size="compact-sm" variant="default" onClick={() => onRestore(document)}>
                  Edit from this version
                </Button>
              )}
            </Stack>
          </Accordion.Panel>
        </Accordion.Item>
      ))}
    </Accordion>
  );
}
