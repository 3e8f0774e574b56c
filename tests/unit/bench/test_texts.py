"""The texts of the benchmarks."""

from bench.texts import Corpus, made_up


def test_made_up_texts_are_the_same_for_the_same_seed() -> None:
    assert made_up(3, seed=7) == made_up(3, seed=7)
    assert made_up(3, seed=7) != made_up(3, seed=8)


def test_no_two_documents_are_alike() -> None:
    corpus = Corpus(made_up(2, seed=7), "made up")
    assert len({corpus.document(number) for number in range(6)}) == 6


def test_questions_are_words_of_the_texts() -> None:
    corpus = Corpus(made_up(2, seed=7), "made up")
    assert corpus.questions(5, seed=1) == corpus.questions(5, seed=1)
    for question in corpus.questions(5, seed=1):
        assert any(question in " ".join(text.split()) for text in corpus.texts)
