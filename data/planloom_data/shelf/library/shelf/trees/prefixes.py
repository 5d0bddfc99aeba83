"""Words kept in a tree by their letters, so that all words with a beginning lie together."""

from collections.abc import Iterable, Iterator


class Trie:
    """A set of words that can be asked by prefix.

    >>> words = Trie(["car", "card", "care", "dog"])
    >>> "card" in words, "ca" in words
    (True, False)
    >>> len(words)
    4
    """

    def __init__(self, words: Iterable[str] = ()) -> None:
        self._children: dict[str, Trie] = {}
        self._is_word = False
        for word in words:
            self.add(word)

    def add(self, word: str) -> None:
        """Keep a word; one that is there already changes nothing.

        >>> words = Trie()
        >>> words.add("at")
        >>> words.add("at")
        >>> list(words)
        ['at']
        """
        node = self
        for letter in word:
            node = node._children.setdefault(letter, Trie())
        node._is_word = True

    def remove(self, word: str) -> bool:
        """Whether the word was there; it no longer is. Longer words that begin with it stay.

        >>> words = Trie(["car", "card"])
        >>> words.remove("car")
        True
        >>> words.remove("ca")
        False
        >>> list(words)
        ['card']
        """
        node = self._at(word)
        if node is None or not node._is_word:
            return False
        node._is_word = False
        return True

    def __contains__(self, word: str) -> bool:
        node = self._at(word)
        return node is not None and node._is_word

    def __len__(self) -> int:
        return sum(len(child) for child in self._children.values()) + self._is_word

    def __iter__(self) -> Iterator[str]:
        return self.starting_with("")

    def starting_with(self, prefix: str) -> Iterator[str]:
        """The words that begin with the prefix, in alphabetical order.

        >>> list(Trie(["care", "dog", "car"]).starting_with("ca"))
        ['car', 'care']
        >>> list(Trie(["dog"]).starting_with("x"))
        []
        """
        node = self._at(prefix)
        if node is not None:
            yield from node._words(prefix)

    def longest_prefix(self, text: str) -> str | None:
        """The longest word that the text begins with, or None.

        >>> words = Trie(["a", "abc"])
        >>> words.longest_prefix("abcd")
        'abc'
        >>> words.longest_prefix("abd")
        'a'
        >>> words.longest_prefix("xyz") is None
        True
        """
        best = "" if self._is_word else None
        node = self
        for position, letter in enumerate(text):
            if letter not in node._children:
                break
            node = node._children[letter]
            if node._is_word:
                best = text[: position + 1]
        return best

    def shortest_unique(self, word: str) -> str:
        """The shortest beginning of a word in the set that no other one shares; all of it where there is none.

        >>> words = Trie(["carbon", "care", "dog"])
        >>> words.shortest_unique("dog")
        'd'
        >>> words.shortest_unique("carbon")
        'carb'
        """
        for stop in range(1, len(word)):
            node = self._at(word[:stop])
            if node is not None and len(node) == 1:
                return word[:stop]
        return word

    def _at(self, prefix: str) -> "Trie | None":
        node = self
        for letter in prefix:
            if letter not in node._children:
                return None
            node = node._children[letter]
        return node

    def _words(self, prefix: str) -> Iterator[str]:
        if self._is_word:
            yield prefix
        for letter in sorted(self._children):
            yield from self._children[letter]._words(prefix + letter)
