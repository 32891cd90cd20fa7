import { Component, type ReactNode } from 'react';

interface ErrorBoundaryProps {
  /** Shown instead of the children when one of them throws. */
  readonly fallback: (error: Error) => ReactNode;
  readonly onError?: () => void;
  readonly children: ReactNode;
}

/** Catches what its children throw while they render. React removes everything from the page for an error that no boundary catches. */
export class ErrorBoundary extends Component<ErrorBoundaryProps, { readonly error?: Error }> {
  override readonly state: { readonly error?: Error } = {};

  static getDerivedStateFromError(error: unknown): { readonly error: Error } {
    return { error: error instanceof Error ? error : new Error(String(error)) };
  }

  override componentDidCatch(): void {
    this.props.onError?.();
  }

  override render(): ReactNode {
    const { error } = this.state;
    return error === undefined ? this.props.children : this.props.fallback(error);
  }
}
