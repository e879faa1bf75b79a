import type { ReactNode } from 'react';

/** A line of the palette, and where it leads or what it does. */
export interface Target {
  readonly id: string;
  readonly label: string;
  readonly detail?: string;
  readonly icon: () => ReactNode;
  /** An address of the console, or of the platform outside of it. */
  readonly to?: string;
  readonly isOutside?: boolean;
  run?(): void;
}

export interface TargetGroup {
  readonly id: string;
  readonly label: string;
  readonly targets: readonly Target[];
}

export interface Found {
  readonly groups: readonly TargetGroup[];
  readonly isLoading: boolean;
  readonly error: unknown;
}

export const matches = (query: string, ...words: readonly string[]): boolean =>
  words.some((word) => word.toLowerCase().includes(query.toLowerCase()));
