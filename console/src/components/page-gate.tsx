import { IconLock } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import type { ConsoleAction } from '../../../protocol/console/answers.ts';
import { useRights } from '../api/session.ts';
import { Empty } from './feedback.tsx';
import { listed, say } from '../texts/say.ts';
import { t } from '../texts/texts.ts';

interface PageGateProps {
  readonly title: string;
  /** One of them suffices to see something of the page. */
  readonly needs: readonly ConsoleAction[];
  readonly children: ReactNode;
}

/** Shows a page to those who may see something of it, and to others which right it needs. The server authorizes the calls of the page. */
export function PageGate({ title, needs, children }: PageGateProps) {
  const { may } = useRights();
  if (needs.some(may)) return children;
  return (
    <Empty icon={IconLock} title={title} order={1}>
      {say(t.components.toSeeThisPageYouNeedThe, { needs: listed(needs, 'or') })}
    </Empty>
  );
}
