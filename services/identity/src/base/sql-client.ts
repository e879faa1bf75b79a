/** Executes plain SQL: a connection or pool of pg, and Prisma with its transactions. */
export interface SqlClient {
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- as pg types its rows
  query<Row extends object>(text: string, values: unknown[]): Promise<{ rows: Row[] }>;
}
