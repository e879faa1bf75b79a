import { text } from '#text/shared';

/** Says that a test of another server is under way, which may take half a minute. */
export const Testing = ({ isPending }: { isPending: boolean }) =>
  isPending && (
    <p className="hint" role="status">
      {text.testing}
    </p>
  );
