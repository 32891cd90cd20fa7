import { Skeleton, Text, VisuallyHidden } from '@mantine/core';
import { IconAlertTriangle, IconCircleCheck, IconCircleX, IconMinus } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'react-router';
import type { HealthAnswer } from '../../../protocol/console/operations-answers.ts';
import { call, isRefresh } from '../api/call.ts';
import { useRights } from '../api/session.ts';
import { Loaded } from '../components/detail-page.tsx';
import { say } from '../texts/say.ts';
import { t } from '../texts/texts.ts';

type Check = HealthAnswer['checks'][number];

const states = {
  good: { icon: IconCircleCheck, word: t.operations.well },
  off: { icon: IconMinus, word: t.operations.notConfigured },
  warning: { icon: IconAlertTriangle, word: t.operations.warning },
  bad: { icon: IconCircleX, word: t.operations.trouble },
} as const;

const parts: Readonly<Record<Check['part'], string>> = {
  servers: t.operations.servers,
  store: t.operations.store,
  space: t.operations.space,
  'key-service': t.operations.keyService,
  providers: t.operations.signIn,
  targets: t.operations.events,
  replication: t.operations.replication,
  tasks: t.labels.backgroundWork,
  certificates: t.operations.certificates,
  audit: t.operations.auditLog,
};

/** Answers "is it well?": one sentence, and one line for each part. */
export function HealthSection() {
  const health = useQuery({
    queryKey: ['health'],
    queryFn: (query) => call<HealthAnswer>('GET', '/health', { refresh: isRefresh(query) }),
    refetchInterval: 15_000,
  });
  return (
    <Loaded what={t.operations.theHealthCannotBeShown} query={health} loading={<LoadingHealth />}>
      {({ checks }) => (
        <section aria-label={t.operations.health} className="health">
          <Verdict checks={checks} />
          <ul>
            {checks.map((check) => (
              <HealthRow key={check.part} check={check} />
            ))}
          </ul>
        </section>
      )}
    </Loaded>
  );
}

/** Has a line for each of the seven parts that every server has, and for the audit log. */
function LoadingHealth() {
  return (
    <div className="health" role="status" aria-label={t.components.loading}>
      <div className="health-verdict">
        <Skeleton h={26} w={26} circle />
        <Skeleton h={20} w="40%" />
      </div>
      <ul aria-hidden>
        {Array.from({ length: 8 }, (_, index) => (
          <li key={index}>
            <Skeleton h={18} w={18} circle />
            <Skeleton className="health-part" h={14} w={96} my={3} />
            <Skeleton className="health-words" h={14} w="60%" my={3} />
          </li>
        ))}
      </ul>
    </div>
  );
}

function Verdict({ checks }: { readonly checks: readonly Check[] }) {
  const bad = checks.filter(({ state }) => state === 'bad').length;
  const warnings = checks.filter(({ state }) => state === 'warning').length;
  const state = bad > 0 ? 'bad' : warnings > 0 ? 'warning' : 'good';
  const Icon = states[state].icon;
  const words =
    bad > 0
      ? say(t.operations.partsHaveTrouble, { bad })
      : warnings > 0
        ? say(t.operations.itWorksWithWarnings, { warnings })
        : t.operations.allIsWell;
  return (
    <p className="health-verdict" data-state={state} role="status">
      <Icon size={26} stroke={1.7} aria-hidden />
      <Text component="span" fw={600} fz="lg">
        {words}
      </Text>
    </p>
  );
}

function HealthRow({ check: { part, state, words } }: { readonly check: Check }) {
  const { icon: Icon, word } = states[state];
  const to = usePage(part);
  return (
    <li data-state={state}>
      <Icon size={18} stroke={1.8} aria-hidden />
      <VisuallyHidden>{word}</VisuallyHidden>
      <span className="health-part">{to === undefined ? parts[part] : <Link to={to}>{parts[part]}</Link>}</span>
      <span className="health-words" lang="en">
        {words}
      </span>
    </li>
  );
}

/** The page that shows more about a part, where the user may open it. */
function usePage(part: Check['part']): string | undefined {
  const { may } = useRights();
  switch (part) {
    case 'key-service':
      return may('admin:KMSKeyStatus') ? '/keys' : undefined;
    case 'providers':
      return may('admin:ConfigUpdate') ? '/identity-providers' : undefined;
    case 'tasks':
    case 'store':
      return '/work';
    case 'audit':
      return may('admin:ReadAuditLog') ? '/audit' : undefined;
    case 'servers':
    case 'space':
    case 'targets':
    case 'replication':
    case 'certificates':
      return undefined;
    default:
      return part satisfies never;
  }
}
