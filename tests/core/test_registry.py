"""The map from names in files to classes."""

import pytest

from tacit.core import registry


class Toy:
    pass


def test_registered_homes_are_modules_of_tacit_alone():
    for name, home in registry.REGISTRY.items():
        module, _, cls = home.partition(":")
        assert module.startswith("tacit.")
        assert cls == name


def test_names_and_classes_find_each_other(monkeypatch):
    monkeypatch.setitem(registry.REGISTRY, "Toy", f"{__name__}:Toy")
    assert registry.find_class("Toy") is Toy
    assert registry.name_of(Toy) == "Toy"


def test_an_unknown_class_is_an_error_that_lists_the_known():
    with pytest.raises(KeyError, match="KMeans"):
        registry.find_class("Nothing")
    with pytest.raises(TypeError, match=r"Toy is not in tacit\.core\.registry"):
        registry.name_of(Toy)


def test_a_subclass_is_not_its_parent(monkeypatch):
    monkeypatch.setitem(registry.REGISTRY, "Toy", f"{__name__}:Toy")

    class Other(Toy):
        pass

    with pytest.raises(TypeError, match="Other"):
        registry.name_of(Other)
