import { text } from '#text/shared';
import { Button } from 'react-aria-components';
import { SearchIcon } from '../ui/icons.tsx';

const KEYS = /Mac|iPhone|iPad/.test(navigator.userAgent) ? '⌘K' : 'Ctrl K';

/** Opens the palette, and says by which keys it opens as well. */
export const JumpButton = ({ onPress }: { onPress: () => void }) => (
  <Button className="jump" onPress={onPress}>
    <SearchIcon />
    {text.jump.open}
    <kbd>{KEYS}</kbd>
  </Button>
);
