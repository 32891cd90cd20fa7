import '@mantine/core/styles.css';
import '@mantine/notifications/styles.css';
import './theme.css';
import { Center, MantineProvider } from '@mantine/core';
import { Notifications } from '@mantine/notifications';
import { QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { BrowserRouter } from 'react-router';
import { basePath } from './api/call.ts';
import { queryClient } from './api/queries.ts';
import { App } from './app.tsx';
import { ErrorBoundary } from './components/error-boundary.tsx';
import { Failure } from './components/feedback.tsx';
import { language } from './texts/language.ts';
import { loadFirstTexts, t } from './texts/texts.ts';
import { consoleTheme } from './theme.ts';

const root = document.getElementById('root');
if (root === null) throw new Error('index.html has no #root');
document.documentElement.lang = language;
async function start(element: Element): Promise<void> {
  try {
    await loadFirstTexts();
  } catch (error) {
    // Otherwise the style sheet shows it after 10 seconds, when a script did not come at all.
    element.querySelector('.start-failure')?.classList.add('certain');
    throw error;
  }
  createRoot(element).render(
    <StrictMode>
      <MantineProvider theme={consoleTheme()} defaultColorScheme="auto">
        <QueryClientProvider client={queryClient}>
          <Notifications position="top-right" limit={4} />
          <ErrorBoundary fallback={whyNothingIsShown}>
            <BrowserRouter basename={basePath() || '/'}>
              <App />
            </BrowserRouter>
          </ErrorBoundary>
        </QueryClientProvider>
      </MantineProvider>
    </StrictMode>,
  );
}

function whyNothingIsShown(error: Error) {
  return (
    <Center mih="100vh" p="md" component="main">
      <Failure what={t.shell.theConsoleCannotBeShown} error={error} retry={() => window.location.reload()} />
    </Center>
  );
}

void start(root);
