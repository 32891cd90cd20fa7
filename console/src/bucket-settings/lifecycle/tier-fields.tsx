import { Autocomplete, Group, Text, TextInput } from '@mantine/core';
import { useRights } from '../../api/session.ts';
import { useTiers } from '../../operations/tiers/tier-queries.ts';
import type { Rule } from './lifecycle-rules.ts';
import { t } from '../../texts/texts.ts';

interface TierFieldsProps {
  readonly rule: Rule;
  readonly onChange: (rule: Rule) => void;
}

const moves = [
  ['moveDays', 'moveTier', t.lifecycle.moveObjectsAfter, t.lifecycle.toTheTier],
  ['oldMoveDays', 'oldMoveTier', t.lifecycle.moveOldVersionsAfter, t.lifecycle.toTheTier],
] as const;

/** When a rule moves bodies to which tier. Tiers that the user may not list can be typed. */
export function TierFields({ rule, onChange }: TierFieldsProps) {
  const { may } = useRights();
  const mayList = may('admin:ListTier');
  const tiers = useTiers(mayList).data ?? [];
  const used = moves.some(([days, tier]) => rule[days] !== undefined || rule[tier] !== undefined);
  // Without tiers a rule cannot move anything.
  if (mayList && tiers.length === 0 && !used) return null;
  return moves.map(([days, tier, label, tierLabel]) => (
    <Group key={days} grow align="flex-end">
      <TextInput
        label={label}
        type="number"
        min={0}
        rightSection={
          <Text size="xs" c="dimmed" pr="md">
            {t.lifecycle.days}
          </Text>
        }
        rightSectionWidth={96}
        value={rule[days] ?? ''}
        onChange={(event) => {
          const { value } = event.currentTarget;
          onChange({ ...rule, [days]: value === '' ? undefined : Number(value) });
        }}
      />
      <Autocomplete
        label={tierLabel}
        aria-label={`${label}: ${tierLabel}`}
        data={tiers.map(({ name }) => name)}
        spellCheck={false}
        value={rule[tier] ?? ''}
        onChange={(value) => onChange({ ...rule, [tier]: value === '' ? undefined : value })}
      />
    </Group>
  ));
}
