import { loadConfig, type Variable } from '../config/config.js';
import { describeVariables } from '../config/config-description.js';
import { findMigrations, migrate } from '../data/migrations.js';
import { AppError } from '../errors.js';
import { createLogger } from '../telemetry/logging.js';

/** A command that was called in the wrong way: one line on stderr, and exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

export type Command = (args: string[]) => Promise<void>;

export interface CommandsDefinition {
  readonly name: string;
  /** The `import.meta.url` of the program, whose folder is next to the folder `prisma`. */
  readonly program: string;
  readonly variables: Readonly<Record<string, Variable<unknown>>> & {
    readonly DATABASE_URL: Variable<string>;
  };
  /** Throws when the environment is wrong. */
  readonly loadConfig: (env: NodeJS.ProcessEnv) => unknown;
  /** Runs after the migrations, for a schema that another program owns. */
  readonly afterMigrate?: (databaseUrl: string) => Promise<void>;
  /** The service's own commands by name, and the lines of the help that describe them. */
  readonly commands?: Readonly<Record<string, Command>>;
  readonly help?: string;
}

const createHelp = ({ name, help = '' }: CommandsDefinition): string => `${name} <command>

  migrate                       apply the pending database migrations
  config                        list every variable, and check the environment
${help}
The database is DATABASE_URL.
`;

async function runMigrate({ name, program, variables, afterMigrate }: CommandsDefinition): Promise<void> {
  const { DATABASE_URL: databaseUrl } = loadConfig(process.env, { DATABASE_URL: variables.DATABASE_URL });
  const applied = await migrate(databaseUrl, findMigrations(program), createLogger(name, 'warn'));
  await afterMigrate?.(databaseUrl);
  process.stdout.write(applied.length > 0 ? `applied: ${applied.join(', ')}\n` : 'nothing to apply\n');
}

const withoutArguments =
  (run: () => Promise<void>): Command =>
  async (args) => {
    if (args.length > 0) throw new UsageError(`unknown argument ${args.join(' ')}`);
    await run();
  };

const isUsageError = (error: unknown): error is Error =>
  error instanceof UsageError ||
  (error instanceof TypeError && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS_'));

/** @returns the main function of a service's command line. */
export function defineCommands(definition: CommandsDefinition): () => Promise<void> {
  const commands: Readonly<Record<string, Command>> = {
    ...definition.commands,
    migrate: withoutArguments(() => runMigrate(definition)),
    config: withoutArguments(async () => {
      process.stdout.write(describeVariables(definition.variables));
      definition.loadConfig(process.env);
    }),
  };
  return async () => {
    const [name, ...args] = process.argv.slice(2);
    if (name === undefined || [name, ...args].some((argument) => ['--help', '-h'].includes(argument))) {
      process.stdout.write(createHelp(definition));
      return;
    }
    try {
      const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
      if (!command) throw new UsageError(`unknown command ${name}`);
      await command(args);
    } catch (error) {
      // For a usage error or a rejected command, the operator gets one line instead of a stack trace.
      if (!(isUsageError(error) || error instanceof AppError)) throw error;
      process.stderr.write(`${error.message}\n`);
      process.exitCode = error instanceof AppError ? 1 : 2;
    }
  };
}
