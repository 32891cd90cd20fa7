import { Badge, Text, Tooltip } from '@mantine/core';
import { reachRights, type Reach, type ReachRight } from '../../../contract/reach-answers.ts';
import type { Column } from './row-table.tsx';

const heads: Readonly<Record<ReachRight, string>> = {
  list: 'List',
  read: 'Read',
  write: 'Write',
  delete: 'Delete',
  administer: 'Administer',
};

const someWords = 'Some keys alone, or only under conditions. Explain tells more.';

/** The columns of the rights, one for each. */
export function reachColumns<Row extends { readonly rights: Reach }>(): readonly Column<Row>[] {
  return reachRights.map((right) => ({
    head: heads[right],
    cell: ({ rights }) => <ExtentCell extent={rights[right]} />,
    width: 96,
    wideOnly: true,
  }));
}

function ExtentCell({ extent }: { readonly extent: Reach[ReachRight] }) {
  if (extent === 'all') return <Badge color="patina">yes</Badge>;
  if (extent === undefined) {
    return (
      <Text size="sm" c="dimmed">
        no
      </Text>
    );
  }
  return (
    <Tooltip label={someWords}>
      <Badge color="yellow" tabIndex={0} style={{ cursor: 'help' }}>
        some
      </Badge>
    </Tooltip>
  );
}

/** The rights as a sentence, for narrow windows. */
export function reachSentence(rights: Reach): string {
  return reachRights
    .filter((right) => rights[right] !== undefined)
    .map((right) => (rights[right] === 'some' ? `${heads[right].toLowerCase()} (some)` : heads[right].toLowerCase()))
    .join(', ');
}
