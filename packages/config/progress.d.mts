/** Runs one step of a longer task: a spinner on a terminal, plain lines elsewhere. `work` may show its latest detail. */
export function showStep<T>(title: string, work: (note: (detail: string) => void) => Promise<T>): Promise<T>;
