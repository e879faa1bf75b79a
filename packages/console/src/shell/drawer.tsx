import { text } from '#text/shared';
import { Dialog, Modal, ModalOverlay } from 'react-aria-components';
import { useBack } from '../ui/use-back.ts';
import { Navigation } from './navigation.tsx';

/** The navigation of a phone. */
export function Drawer({ onClose }: { onClose: () => void }) {
  useBack(onClose);
  return (
    <ModalOverlay className="overlay drawer" isDismissable isOpen onOpenChange={onClose}>
      <Modal>
        <Dialog aria-label={text.navigation.label}>
          <Navigation />
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}
