import { Affix, Stack, Title } from '@mantine/core';
import { lazy, useState, type ComponentType, type ReactNode } from 'react';
import { basePath } from '../api/call.ts';
import { say } from '../texts/say.ts';
import { loadPageTexts, t } from '../texts/texts.ts';
import { ErrorBoundary } from './error-boundary.tsx';
import { Failure } from './feedback.tsx';

/** A page that is loaded when it is shown. When that fails, its place shows why, and a button that tries it again. */
export function lazyPage<Props extends object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  return lazyComponent(load, (error, retry) => (
    <Stack>
      <Title order={1}>{t.shell.thisPageCannotBeShown}</Title>
      <Failure what={t.shell.whatHappened} error={error} retry={retry} />
    </Stack>
  ));
}

/** A part of the frame that is loaded when it is shown. When that fails, the page stays, and a corner of it shows why. */
export function lazyPart<Props extends object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  return lazyComponent(load, (error, retry) => (
    <Affix position={{ bottom: 16, right: 16 }} maw="min(420px, calc(100vw - 32px))">
      <Failure what={t.shell.aPartOfThePageCannotBeShown} error={error} retry={retry} />
    </Affix>
  ));
}

/** `fallback` is also for what the component throws later, when it renders. */
function lazyComponent<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  fallback: (error: Error, retry: () => Promise<void>) => ReactNode,
): ComponentType<Props> {
  /** The texts of the pages come first, because the modules of pages read them. */
  async function loadAll(): Promise<{ default: ComponentType<Props> }> {
    try {
      await loadPageTexts();
      return { default: await load() };
    } catch (error) {
      throw new Error(say(t.shell.aFileOfTheConsoleCannotBeLoaded, { reason: reasonOf(error) }), { cause: error });
    }
  }

  // React keeps the failure of a lazy component, so that each attempt has a new one.
  let current = lazy(loadAll);
  const renew = () => {
    current = lazy(loadAll);
  };

  return function LazyComponent(props: Props) {
    const [{ attempt, Loaded }, setShown] = useState(() => ({ attempt: 0, Loaded: current }));

    async function retry(): Promise<void> {
      try {
        await loadAll();
      } catch {
        // The server has other files than this document asks for, or the browser keeps the failure for as long as the document lives.
        if (await serverAnswers()) window.location.reload();
        return;
      }
      renew();
      setShown({ attempt: attempt + 1, Loaded: current });
    }

    return (
      <ErrorBoundary key={attempt} onError={renew} fallback={(error) => fallback(error, retry)}>
        <Loaded {...props} />
      </ErrorBoundary>
    );
  };
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Returns whether a reload would show the console. Otherwise it would show an error of the browser, and lose the page. */
async function serverAnswers(): Promise<boolean> {
  try {
    return (await fetch(`${basePath()}/`, { method: 'HEAD', cache: 'no-store' })).ok;
  } catch {
    return false;
  }
}
