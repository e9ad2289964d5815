// Shares an array between many values that only read it. Data that is made once and used by many runs
// (programs, communicators, edges of tasks) lies in such arrays; hot loops read it through data().
#pragma once

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

namespace orrery {

template <class T>
class SharedArray {
 public:
  using value_type = T;
  using const_iterator = typename std::vector<T>::const_iterator;

  SharedArray() : array_(nothing()) {}
  SharedArray(std::vector<T> values)  // NOLINT(google-explicit-constructor): an array is handed over
      : array_(std::make_shared<std::vector<T>>(std::move(values))) {}
  SharedArray(std::initializer_list<T> values) : SharedArray(std::vector<T>(values)) {}

  [[nodiscard]] const T* data() const { return array_->data(); }
  [[nodiscard]] std::size_t size() const { return array_->size(); }
  [[nodiscard]] bool empty() const { return array_->empty(); }
  [[nodiscard]] const T& operator[](std::size_t at) const { return (*array_)[at]; }
  [[nodiscard]] const T& front() const { return array_->front(); }
  [[nodiscard]] const T& back() const { return array_->back(); }
  [[nodiscard]] const_iterator begin() const { return array_->begin(); }
  [[nodiscard]] const_iterator end() const { return array_->end(); }
  [[nodiscard]] std::size_t bytes() const { return array_->size() * sizeof(T); }

  /// Returns the array for writing: the array itself, or a copy if other values share it.
  [[nodiscard]] std::vector<T>& edit() {
    if (array_.use_count() != 1) array_ = std::make_shared<std::vector<T>>(*array_);
    return *array_;
  }

  void reserve(std::size_t size) { edit().reserve(size); }
  void resize(std::size_t size) { edit().resize(size); }
  void assign(std::size_t size, const T& value) { edit().assign(size, value); }
  void push_back(T value) { edit().push_back(std::move(value)); }

  friend bool operator==(const SharedArray& a, const SharedArray& b) {
    return a.array_ == b.array_ || *a.array_ == *b.array_;
  }

 private:
  static const std::shared_ptr<std::vector<T>>& nothing() {
    static const auto empty = std::make_shared<std::vector<T>>();
    return empty;
  }

  std::shared_ptr<std::vector<T>> array_;
};

}  // namespace orrery
