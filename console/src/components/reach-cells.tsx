import { Badge, Text, Tooltip } from '@mantine/core';
import { reachRights, type Reach, type ReachRight } from '../../../protocol/console/reach-answers.ts';
import type { Column } from './row-table.tsx';
import { say } from '../texts/say.ts';
import { t } from '../texts/texts.ts';

const heads: Readonly<Record<ReachRight, string>> = {
  list: t.components.list,
  read: t.components.read,
  write: t.components.write,
  delete: t.components.delete,
  administer: t.components.administer,
};

const someWords = t.components.someKeysAloneOrOnlyUnderConditions;

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
  if (extent === 'all') return <Badge color="patina">{t.components.yes}</Badge>;
  if (extent === undefined) {
    return (
      <Text size="sm" c="dimmed">
        {t.components.no}
      </Text>
    );
  }
  return (
    <Tooltip label={someWords}>
      <Badge color="yellow" tabIndex={0} style={{ cursor: 'help' }}>
        {t.components.some}
      </Badge>
    </Tooltip>
  );
}

/** The rights as a sentence, for narrow windows. */
export function reachSentence(rights: Reach): string {
  return reachRights
    .filter((right) => rights[right] !== undefined)
    .map((right) =>
      rights[right] === 'some'
        ? say(t.components.someRight, { right: heads[right].toLowerCase() })
        : heads[right].toLowerCase(),
    )
    .join(', ');
}
