import { Badge, Table, Text } from '@mantine/core';
import type { ProviderTest } from '../../../contract/provider-answers.ts';

const colours = { ok: 'patina', failed: 'red', unclear: 'yellow', skipped: 'gray' } as const;

/** How far the way of a sign-in goes, and where it breaks. */
export function ProviderSteps({ steps }: ProviderTest) {
  return (
    <div className="rows" role="status" aria-label="Result of the test">
      <Table>
        <Table.Tbody>
          {steps.map(({ step, outcome, message }) => (
            <Table.Tr key={step}>
              <Table.Th scope="row" w={120}>
                {step}
              </Table.Th>
              <Table.Td w={90}>
                <Badge color={colours[outcome]}>{outcome}</Badge>
              </Table.Td>
              <Table.Td>
                <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
                  {message}
                </Text>
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </div>
  );
}
