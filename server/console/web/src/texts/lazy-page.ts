import { lazy, type ComponentType, type LazyExoticComponent } from 'react';
import { loadPageTexts } from './texts.ts';

/** A component that is loaded when it is shown. The texts of the pages come first, because its modules read them. */
export function lazyPage<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
): LazyExoticComponent<ComponentType<Props>> {
  return lazy(async () => {
    await loadPageTexts();
    return { default: await load() };
  });
}
