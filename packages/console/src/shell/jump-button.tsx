import { text } from '#text/shared';
import { Button } from 'react-aria-components';
import { SearchIcon } from '../ui/icons.tsx';
import { JUMP_KEYS } from './keys.ts';

/** Opens the palette, and says by which keys it opens as well. */
export const JumpButton = ({ onPress }: { onPress: () => void }) => (
  <Button className="jump" onPress={onPress}>
    <SearchIcon />
    {text.jump.open}
    <kbd>{JUMP_KEYS}</kbd>
  </Button>
);
